// The list of tiers, best first, and the choice among them by facts about the processor.
#include "../convert/convert.h"
#include "resize.h"

#include "CNTPlatform.h"

#define NT_IMAGE_TIER(columns4, columns1, rows, convert)             \
    {                                                                \
        .resample_columns_px4 = nt_resample_columns_px4_##columns4,  \
        .resample_columns_px1 = nt_resample_columns_px1_##columns1,  \
        .resample_rows = nt_resample_rows_##rows,                    \
        .px4_from_px3 = nt_px4_from_px3_##convert,                   \
        .luma_from_px4 = nt_luma_from_px4_##convert,                 \
        .luma_from_px3 = nt_luma_from_px3_##convert,                 \
        .rgbx_from_nv12 = nt_rgbx_from_nv12_##convert,               \
        .floats_from_px4 = nt_floats_from_px4_##convert,             \
        .floats_from_px1 = nt_floats_from_px1_##convert,             \
        .bytes_from_px = nt_bytes_from_px_##convert,                 \
    }

static const nt_image_kernels portable_tier = NT_IMAGE_TIER(portable, portable, portable, portable);

#if defined(__x86_64__)
static const nt_image_kernels avx2_tier = NT_IMAGE_TIER(avx2, avx2, avx2, avx2);
static const nt_image_kernels avx512_tier = NT_IMAGE_TIER(avx2, avx2, avx512, avx512);
static const nt_image_kernels avx512vnni_tier = NT_IMAGE_TIER(avx512vnni, avx2, avx512vnni, avx512);
#endif

const nt_image_kernels *nt_image_kernels_for(uint32_t isa_bits) {
#if defined(__x86_64__)
    if ((isa_bits & NT_ISA_AVX512) && (isa_bits & NT_ISA_AVX512_VNNI)) return &avx512vnni_tier;
    if (isa_bits & NT_ISA_AVX512) return &avx512_tier;
    if (isa_bits & NT_ISA_AVX2) return &avx2_tier;
#endif
    (void)isa_bits;
    return &portable_tier;
}

void nt_resample_digits(const nt_resample_table *table, int8_t *digits) {
    const int32_t taps = table->taps;
    for (int32_t group = 0; group < table->count; group += 4)
        for (int32_t k = 0; k < taps; k += 4, digits += 48)
            for (int32_t e = 0; e < 4; ++e)
                for (int32_t j = 0; j < 4; ++j) {
                    int32_t d[3] = {0, 0, 0};
                    if (group + e < table->count) {
                        const ptrdiff_t at = (ptrdiff_t)(group + e) * taps + k + j;
                        nt_resample_split(table->high[at] * 256 + table->low[at], &d[0], &d[1], &d[2]);
                    }
                    for (int n = 0; n < 3; ++n) digits[16 * n + 4 * e + j] = (int8_t)d[n];
                }
}
