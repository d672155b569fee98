// Moving elements between layouts, float32.
#ifndef NT_PACK_H
#define NT_PACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NT_COPY_MAX_RANK = 16 };

/// A copy from one strided layout into another. Strides are in floats and may be 0 or negative in the source.
typedef struct nt_copy {
    int rank;
    ptrdiff_t dims[NT_COPY_MAX_RANK];
    ptrdiff_t from[NT_COPY_MAX_RANK];
    ptrdiff_t to[NT_COPY_MAX_RANK];
} nt_copy;

/// The same copy with dimensions of extent 1 dropped, dimensions ordered by the target's strides, and neighbours joined where both
/// layouts allow it. To be done once, before `nt_copy_run`.
void nt_copy_simplify(nt_copy *copy);

/// to[sum of index * to strides] = from[sum of index * from strides] for every index. The two do not overlap.
void nt_copy_run(const nt_copy *copy, const float *from, float *to);

/// to[i] = value for n floats.
void nt_fill(size_t n, float value, float *to);

/// Rows x columns elements, row-major with a stride, into columns x rows: to[j * to_stride + i] = from[i * from_stride + j].
void nt_transpose(size_t rows, size_t columns, const float *from, size_t from_stride, float *to, size_t to_stride);

#ifdef __cplusplus
}
#endif
#endif
