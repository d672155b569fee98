// The primitives of amx.h on a software model of the tile registers, for processors without them: what TDPBF16PS computes to the last bit,
// one number at a time. Only for tests. `end.h` closes the region.
#include "avx512bf16.h"

#include <stdbool.h>
#include <string.h>

static _Thread_local struct {
    bool begun;
    uint32_t tiles[8][16][16];
} model;

/// Tiles hold NaN until they are loaded, and outside tiles_begin and tiles_end whatever is loaded is NaN.
VINLINE void tiles_begin(void) {
    memset(model.tiles, 0xff, sizeof model.tiles);
    model.begun = true;
}
VINLINE void tiles_end(void) { model.begun = false; }

VINLINE void tile_load(int tile, const void *from, size_t stride) {
    if (!model.begun) memset(model.tiles[tile], 0xff, sizeof model.tiles[tile]);
    else for (ptrdiff_t i = 0; i < 16; i++) memcpy(model.tiles[tile][i], (const char *)from + i * (ptrdiff_t)stride, 64);
}
VINLINE void tile_store(int tile, void *to, size_t stride) {
    for (ptrdiff_t i = 0; i < 16; i++) memcpy((char *)to + i * (ptrdiff_t)stride, model.tiles[tile][i], 64);
}

VINLINE float model_float(uint32_t bits) {
    if (!(bits & 0x7f800000u)) bits &= 0x80000000u;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
VINLINE uint32_t model_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & 0x7f800000u ? bits : bits & 0x80000000u;
}
VINLINE float model_fma(uint32_t a, uint32_t b, float sum) {
    return model_float(model_bits(__builtin_fmaf(model_float(a), model_float(b), sum)));
}

static void tile_dot(int sums, int a, int b) {
    for (int i = 0; i < 16; i++) {
        for (int j = 0; j < 16; j++) {
            float lower = 0, upper = 0;
            for (int k = 0; k < 16; k++) {
                const uint32_t x = model.tiles[a][i][k], y = model.tiles[b][k][j];
                lower = model_fma(x << 16, y << 16, lower);
                upper = model_fma(x & 0xffff0000u, y & 0xffff0000u, upper);
            }
            const float both = model_float(model_bits(lower + upper));
            model.tiles[sums][i][j] = model_bits(model_float(model.tiles[sums][i][j]) + both);
        }
    }
}
