#include "rounding.h"

#include <math.h>

#if defined(__x86_64__)
void nt_rounding_row_avx512bf16(size_t count, const float *w, const float *mean, const float *variance, nt_rounding_sums *sums);
#define rounding_row nt_rounding_row_avx512bf16
#else
static void rounding_row(size_t count, const float *w, const float *mean, const float *variance, nt_rounding_sums *sums) {
    nt_rounding_sums s = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        s.mean += w[i] * mean[i];
        s.variance += w[i] * w[i] * variance[i];
        s.error += (w[i] - nt_bfloat16_value(nt_bfloat16_bits(w[i]))) * mean[i];
    }
    *sums = s;
}
#endif

void nt_rounding_sums_of(
    size_t outputs, size_t count, const float *weights, const float *mean, const float *variance, nt_rounding_sums *sums) {
    for (size_t o = 0; o < outputs; o++) rounding_row(count, weights + o * count, mean, variance, sums + o);
}

// The normal distribution at z: its density, and what lies below. Within 1e-5 (Abramowitz and Stegun 26.2.16).
typedef struct normal {
    double density, below;
} normal;

static normal normal_at(double z) {
    if (isinf(z)) return (normal){0, z > 0 ? 1 : 0};
    const double density = 0.3989422804 * (double)expf((float)(-0.5 * z * z));
    const double t = 1 / (1 + 0.33267 * fabs(z));
    const double beyond = density * t * (0.4361836 + t * (-0.1201676 + t * 0.9372980));
    return (normal){density, z > 0 ? 1 - beyond : beyond};
}

void nt_clamped_moments(size_t count, float lo, float hi, float *mean, float *variance) {
    for (size_t i = 0; i < count; i++) {
        const double m = mean[i], s = sqrt((double)variance[i]);
        if (!(s > 1e-12)) {
            mean[i] = fmaxf(lo, fminf(hi, mean[i]));
            continue;
        }
        // Bounds in deviations, results in deviations from the mean.
        const double a = (lo - m) / s, b = (hi - m) / s;
        const normal below = normal_at(a), above = normal_at(b);
        double first = below.density - above.density, second = above.below - below.below;
        if (!isinf(a)) {
            first += a * below.below;
            second += a * below.density + a * a * below.below;
        }
        if (!isinf(b)) {
            first += b * (1 - above.below);
            second += b * b * (1 - above.below) - b * above.density;
        }
        mean[i] = (float)(m + s * first);
        variance[i] = (float)(s * s * fmax(0, second - first * first));
    }
}
