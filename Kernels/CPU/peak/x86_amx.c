#if defined(__x86_64__)
#include "peak.h"
#include "../simd/amx.h"

void nt_peak_amx(size_t rounds);
void nt_peak_amx(size_t rounds) {
    static const float ones[16] __attribute__((aligned(64))) = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    tiles_begin();
    tile_load(0, ones, 0);
    tile_load(1, ones, 0);
    tile_load(2, ones, 0);
    tile_load(3, ones, 0);
    tile_load(6, ones, 0);
    tile_load(7, ones, 0);
    for (size_t r = 0; r < rounds; r++) {
#pragma clang loop unroll(full)
        for (int i = 0; i < 3; i++) {
            tile_dot(0, 6, 7);
            tile_dot(1, 6, 7);
            tile_dot(2, 6, 7);
            tile_dot(3, 6, 7);
        }
    }
    tiles_end();
}

#include "../simd/end.h"
#endif
