// AMX's eight tile registers, each 16 rows of 16 slots, with the primitives of AVX512-BF16 (avx512bf16.h). A tile's number is a constant.
// `end.h` closes the region.
#define NT_AMX_BF16
#include "avx512bf16.h"

/// Gives this thread eight whole tiles, and takes them back, so that no switch between threads has them to save.
VINLINE void tiles_begin(void) {
    static const struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } whole __attribute__((aligned(64))) = {1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
    _tile_loadconfig(&whole);
}
VINLINE void tiles_end(void) { _tile_release(); }

/// 16 rows of 16 slots, `stride` bytes apart (0: one row 16 times).
#define tile_load(tile, from, stride) _tile_loadd(tile, from, stride)
#define tile_store(tile, to, stride) _tile_stored(tile, to, stride)
/// sums[i][j] += the sum over k of a[i][k] * b[k][j] as pairs of bfloat16, in float32: the lower and the upper products apart, each in order
/// of k, then both together. Subnormal numbers count as zero.
#define tile_dot(sums, a, b) _tile_dpbf16ps(sums, a, b)
