// What rounding weights to bfloat16 does to a layer's sums on average: estimates from the weights and from what the inputs' channels are on average.
#ifndef NT_ROUNDING_H
#define NT_ROUNDING_H

#include "element.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Of one output's weights w and its inputs' means and variances.
typedef struct nt_rounding_sums {
    float mean;      ///< sum of w * mean
    float variance;  ///< sum of w * w * variance
    float error;     ///< sum of (w - w rounded to bfloat16) * mean
} nt_rounding_sums;

/// Sums for each of `outputs` rows of `count` weights. Needs NT_ISA_AVX512_BF16 on x86.
void nt_rounding_sums_of(
    size_t outputs, size_t count, const float *weights, const float *mean, const float *variance, nt_rounding_sums *sums);

/// Replaces means and variances of normally distributed numbers by those of the numbers clamped to lo...hi, either of which may be infinite.
void nt_clamped_moments(size_t count, float lo, float hi, float *mean, float *variance);

#ifdef __cplusplus
}
#endif
#endif
