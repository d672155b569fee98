#define CL_TARGET_OPENCL_VERSION 300
// clCreateCommandQueue: the one queue constructor that every version has.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
