// Devices of an OpenCL driver under the description of graphics processors: what plans for those then runs where there is none.
//
// The target defines a few OpenCL calls itself, each handing on to the loader's own, so a program linked with it asks it first. Compiled as a library it
// does the same for a program that is started with LD_PRELOAD: NT_STAND_IN names the graphics processor, and NT_STAND_IN_RECORD a folder that receives
// what the program compiles and launches, which is then not run (`Scripts/check-gpu-kernels`).
#ifndef CNT_GRAPHICS_STAND_IN_H
#define CNT_GRAPHICS_STAND_IN_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The names that `nt_stand_in` knows, one after the other, then NULL. Static memory.
extern const char *const nt_stand_in_names[];

/// From now on devices describe themselves as this graphics processor; NULL ends it. False when the name is not known. One thread at a time.
bool nt_stand_in(const char *name);

/// From now on `call` (clGetPlatformInfo, clGetDeviceInfo, clGetKernelWorkGroupInfo) answers a question for `property` with these bytes, and with
/// `announced` one for their number; clGetPlatformIDs and clGetDeviceIDs count `announced` objects (property 0). A kernel launched in larger groups than
/// CL_KERNEL_WORK_GROUP_SIZE is answered with is refused. NULL ends all of it. One thread at a time.
void nt_stand_in_answer(const char *call, unsigned property, const void *bytes, size_t byte_count, size_t announced);

#ifdef __cplusplus
}
#endif
#endif
