// The OpenCL C programs as text, embedded at build time.
#ifndef CNT_KERNEL_SOURCES_H
#define CNT_KERNEL_SOURCES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The text of the file `name`.cl, not terminated; its length in bytes goes to `length`. NULL when there is no such file. Static memory.
const char *nt_kernel_source(const char *name, size_t *length);

#ifdef __cplusplus
}
#endif
#endif
