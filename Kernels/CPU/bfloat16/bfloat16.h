// Rows of float32 to bfloat16 and back. See `element.h` for how bfloat16 lies in memory.
#ifndef NT_BFLOAT16_H
#define NT_BFLOAT16_H

#include "element.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Rows of numbers between the two element types.
typedef struct nt_conversion {
    size_t rows, count;            ///< `count` numbers a row
    size_t x_stride, y_stride;     ///< slots from row to row
    int to_bfloat16;               ///< 1: float32 to bfloat16, nearest, ties to even; 0: back, exactly
} nt_conversion;

/// Converts share `part` of `parts` of the rows. An odd count's last upper half is written as zero. x and y do not overlap.
/// Needs NT_ISA_AVX512_BF16.
void nt_conversion_run(const nt_conversion *conversion, const float *x, float *y, size_t part, size_t parts);

/// One row to bfloat16 and back, in place of the above.
void nt_row_to_bfloat16(size_t count, const float *x, float *y);
void nt_row_from_bfloat16(size_t count, const float *x, float *y);

#ifdef __cplusplus
}
#endif
#endif
