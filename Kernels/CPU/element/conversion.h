// Rows of float32 to slots of two bfloat16 or float16 and back. See `element.h` for how they lie in memory.
#ifndef NT_CONVERSION_H
#define NT_CONVERSION_H

#include "element.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Rows of numbers between two element types.
typedef struct nt_conversion {
    size_t rows, count;            ///< `count` numbers a row
    size_t x_stride, y_stride;     ///< slots from row to row
    int element;                   ///< NT_ELEMENT_BFLOAT16 or NT_ELEMENT_FLOAT16
    int to_pairs;                  ///< 1: from float32 to that element, nearest, ties to even; 0: back, exactly
} nt_conversion;

/// Converts share `part` of `parts` of the rows. An odd count's last upper half is written as zero. x and y do not overlap.
/// bfloat16 needs NT_ISA_AVX512_BF16, float16 NT_ISA_AVX512.
void nt_conversion_run(const nt_conversion *conversion, const float *x, float *y, size_t part, size_t parts);

/// One row to slots of an element and back, as above.
void nt_row_to_pairs(int element, size_t count, const float *x, float *y);
void nt_row_from_pairs(int element, size_t count, const float *x, float *y);

/// The pixels of a row of three planes: `count` numbers from each, x[0][i], x[1][i], x[2][i] side by side.
void nt_planes_to_pairs(int element, size_t count, const float *const *x, float *y);

#ifdef __cplusplus
}
#endif
#endif
