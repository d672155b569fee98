// Micro-kernels that bring pictures to the size, order and type a network wants. Included by CNTKernels.h.
#ifndef CNT_IMAGE_KERNELS_H
#define CNT_IMAGE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/// One axis of an antialiased resize: output element i is the sum of `taps` input elements from `first[i]` on, times their weights.
///
/// A weight is `high * 256 + low` in units of 2^-22 with 0 <= high <= 16384 and 0 <= low <= 255, and the weights of one output
/// element sum to 1 up to rounding; so each half fits a 16-bit multiply and every sum is exact in 32 bits. The result is
/// rounded half up and clamped to 0...255. Every tier gives the same bits.
typedef struct {
    const int32_t *first;       ///< [count rounded up to a multiple of 4]; the last one repeats
    const int16_t *high, *low;  ///< [count][taps]
    const int8_t *digits;       ///< the weights once more, as nt_resample_digits() writes them
    int32_t taps;               ///< a multiple of 4 (8 for one-byte pixels), unused ones of weight 0
    int32_t count;
} nt_resample_table;

/// Bytes of the digits of a table: 12 for each tap of each group of four output elements.
static inline size_t nt_resample_digit_bytes(int32_t count, int32_t taps) { return ((size_t)count + 3) / 4 * (size_t)taps * 12; }

/// Writes the weights as three signed digits of base 256 (weight = d[0] + 256 d[1] + 65536 d[2]), for four output elements and four taps
/// at a time: digits[count / 4][taps / 4][3][element][tap]. Reads `high` and `low` of `table`.
void nt_resample_digits(const nt_resample_table *table, int8_t *digits);

/// Where a stored channel goes: element i of it to base[i * step] (elements, not bytes).
typedef struct {
    float *base[3];
    ptrdiff_t step;
} nt_float_channels;

/// The kernels of one instruction-set tier. All are pure, allocate nothing and may run on any thread.
/// "px4" rows hold 4 bytes a pixel, "px1" rows one byte.
typedef struct {
    /// Horizontal pass over four rows at once (rows and outputs may repeat): out[r][4i...4i+3] for all i < count.
    /// Reads `taps` whole pixels from first[i] on: the caller places windows inside the rows.
    void (*resample_columns_px4)(const uint8_t *const rows[4], uint8_t *const out[4], const nt_resample_table *table);
    /// The same for one byte a pixel.
    void (*resample_columns_px1)(const uint8_t *const rows[4], uint8_t *const out[4], const nt_resample_table *table);
    /// Vertical pass: out[b] = sum over t < taps of weight[t] * rows[t][b], b < byte_count. `taps` is a multiple of 4; rows of
    /// weight 0 are read all the same.
    void (*resample_rows)(const uint8_t *const *rows, int32_t taps, const int16_t *high, const int16_t *low, uint8_t *out, size_t byte_count);

    /// 24-bit pixels to 32-bit ones; the fourth byte is 255.
    void (*px4_from_px3)(const uint8_t *in, uint8_t *out, size_t count);
    /// Luma (19595 R + 38470 G + 7471 B + 32768) >> 16 of 3 or 4-byte pixels whose channels lie at offsets r, g, b.
    void (*luma_from_px4)(const uint8_t *in, uint8_t *out, size_t count, int r, int g, int b);
    void (*luma_from_px3)(const uint8_t *in, uint8_t *out, size_t count, int r, int g, int b);
    /// One row of luma and one of interleaved Cb, Cr at half the columns to red, green, blue, 255 by ITU-R BT.601.
    /// `video_range` 0: 0...255; 1: luma 16...235, chroma 16...240. Each chroma pair serves its two columns.
    void (*rgbx_from_nv12)(const uint8_t *luma, const uint8_t *chroma, uint8_t *out, size_t count, int video_range);

    /// Channels at offsets o[0...2] of 4-byte pixels to floats 0...255.
    void (*floats_from_px4)(const uint8_t *in, size_t count, const int o[3], nt_float_channels to, int channels);
    /// Grey pixels to `channels` equal floats.
    void (*floats_from_px1)(const uint8_t *in, size_t count, nt_float_channels to, int channels);
    /// Pixels of `in_step` bytes with channels at o[0...2] to pixels `out_step` bytes apart with channels at d[0...2]; the byte at
    /// `alpha`, when not negative, becomes 255. `channels` is 1 or 3.
    void (*bytes_from_px)(
        const uint8_t *in, ptrdiff_t in_step, size_t count, const int o[3], uint8_t *out, ptrdiff_t out_step, const int d[3], int alpha,
        int channels);
} nt_image_kernels;

/// The best tier whose instruction sets are all in `isa_bits` (see nt_isa_bits()). The table lives as long as the process.
const nt_image_kernels *nt_image_kernels_for(uint32_t isa_bits);

#endif
