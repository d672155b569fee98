// Row conversions, written once in plain C (convert_rows.inc) and compiled for each tier by the files beside it.
#ifndef NT_CONVERT_H
#define NT_CONVERT_H

#include "../include/CNTImageKernels.h"

#define NT_DECLARE_CONVERT(tier)                                                                                     \
    void nt_px4_from_px3_##tier(const uint8_t *in, uint8_t *out, size_t count);                                      \
    void nt_luma_from_px4_##tier(const uint8_t *in, uint8_t *out, size_t count, int r, int g, int b);                \
    void nt_luma_from_px3_##tier(const uint8_t *in, uint8_t *out, size_t count, int r, int g, int b);                \
    void nt_rgbx_from_nv12_##tier(                                                                                   \
        const uint8_t *luma, const uint8_t *chroma, uint8_t *out, size_t count, int video_range);                    \
    void nt_floats_from_px4_##tier(const uint8_t *in, size_t count, const int o[3], nt_float_channels to, int channels); \
    void nt_floats_from_px1_##tier(const uint8_t *in, size_t count, nt_float_channels to, int channels);              \
    void nt_bytes_from_px_##tier(                                                                                    \
        const uint8_t *in, ptrdiff_t in_step, size_t count, const int o[3], uint8_t *out, ptrdiff_t out_step,        \
        const int d[3], int alpha, int channels)

NT_DECLARE_CONVERT(portable);
NT_DECLARE_CONVERT(avx2);
NT_DECLARE_CONVERT(avx512);

#endif
