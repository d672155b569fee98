// OpenCL without linking to it: the calls that are listed here go to the process's own OpenCL, or else to a loader that the first of them opens. To the
// linker they have names of their own, so that a program may link to OpenCL beside this.
#ifndef COPENCL_H
#define COPENCL_H

/// The calls: result, name, parameters, arguments, and the result where the call is missing.
#define NT_OPENCL_CALLS(CALL) \
    CALL(cl_int, clGetPlatformIDs, (cl_uint a, cl_platform_id *b, cl_uint *c), (a, b, c), CL_PLATFORM_NOT_FOUND_KHR) \
    CALL(cl_int, clGetPlatformInfo, (cl_platform_id a, cl_platform_info b, size_t c, void *d, size_t *e), (a, b, c, d, e), NT_CALL_MISSING) \
    CALL(cl_int, clGetDeviceIDs, (cl_platform_id a, cl_device_type b, cl_uint c, cl_device_id *d, cl_uint *e), (a, b, c, d, e), NT_CALL_MISSING) \
    CALL(cl_int, clGetDeviceInfo, (cl_device_id a, cl_device_info b, size_t c, void *d, size_t *e), (a, b, c, d, e), NT_CALL_MISSING) \
    CALL(void *, clGetExtensionFunctionAddressForPlatform, (cl_platform_id a, const char *b), (a, b), NULL) \
    CALL(cl_context, clCreateContext, (const cl_context_properties *a, cl_uint b, const cl_device_id *c, void(CL_CALLBACK *d)(const char *, const void *, size_t, void *), void *e, cl_int *code), (a, b, c, d, e, code), NT_NONE(code)) \
    CALL(cl_int, clReleaseContext, (cl_context a), (a), NT_CALL_MISSING) \
    CALL(cl_command_queue, clCreateCommandQueue, (cl_context a, cl_device_id b, cl_command_queue_properties c, cl_int *code), (a, b, c, code), NT_NONE(code)) \
    CALL(cl_int, clReleaseCommandQueue, (cl_command_queue a), (a), NT_CALL_MISSING) \
    CALL(cl_mem, clCreateBuffer, (cl_context a, cl_mem_flags b, size_t c, void *d, cl_int *code), (a, b, c, d, code), NT_NONE(code)) \
    CALL(cl_mem, clCreateSubBuffer, (cl_mem a, cl_mem_flags b, cl_buffer_create_type c, const void *d, cl_int *code), (a, b, c, d, code), NT_NONE(code)) \
    CALL(cl_int, clReleaseMemObject, (cl_mem a), (a), NT_CALL_MISSING) \
    CALL(cl_program, clCreateProgramWithSource, (cl_context a, cl_uint b, const char **c, const size_t *d, cl_int *code), (a, b, c, d, code), NT_NONE(code)) \
    CALL(cl_program, clCreateProgramWithBinary, (cl_context a, cl_uint b, const cl_device_id *c, const size_t *d, const unsigned char **e, cl_int *f, cl_int *code), (a, b, c, d, e, f, code), NT_NONE(code)) \
    CALL(cl_int, clBuildProgram, (cl_program a, cl_uint b, const cl_device_id *c, const char *d, void(CL_CALLBACK *e)(cl_program, void *), void *f), (a, b, c, d, e, f), NT_CALL_MISSING) \
    CALL(cl_int, clGetProgramInfo, (cl_program a, cl_program_info b, size_t c, void *d, size_t *e), (a, b, c, d, e), NT_CALL_MISSING) \
    CALL(cl_int, clGetProgramBuildInfo, (cl_program a, cl_device_id b, cl_program_build_info c, size_t d, void *e, size_t *f), (a, b, c, d, e, f), NT_CALL_MISSING) \
    CALL(cl_int, clReleaseProgram, (cl_program a), (a), NT_CALL_MISSING) \
    CALL(cl_kernel, clCreateKernel, (cl_program a, const char *b, cl_int *code), (a, b, code), NT_NONE(code)) \
    CALL(cl_int, clGetKernelWorkGroupInfo, (cl_kernel a, cl_device_id b, cl_kernel_work_group_info c, size_t d, void *e, size_t *f), (a, b, c, d, e, f), NT_CALL_MISSING) \
    CALL(cl_int, clSetKernelArg, (cl_kernel a, cl_uint b, size_t c, const void *d), (a, b, c, d), NT_CALL_MISSING) \
    CALL(cl_int, clReleaseKernel, (cl_kernel a), (a), NT_CALL_MISSING) \
    CALL(cl_int, clEnqueueReadBuffer, (cl_command_queue a, cl_mem b, cl_bool c, size_t d, size_t e, void *f, cl_uint g, const cl_event *h, cl_event *i), (a, b, c, d, e, f, g, h, i), NT_CALL_MISSING) \
    CALL(cl_int, clEnqueueWriteBuffer, (cl_command_queue a, cl_mem b, cl_bool c, size_t d, size_t e, const void *f, cl_uint g, const cl_event *h, cl_event *i), (a, b, c, d, e, f, g, h, i), NT_CALL_MISSING) \
    CALL(cl_int, clEnqueueWriteBufferRect, (cl_command_queue a, cl_mem b, cl_bool c, const size_t *d, const size_t *e, const size_t *f, size_t g, size_t h, size_t i, size_t j, const void *k, cl_uint l, const cl_event *m, cl_event *n), (a, b, c, d, e, f, g, h, i, j, k, l, m, n), NT_CALL_MISSING) \
    CALL(void *, clEnqueueMapBuffer, (cl_command_queue a, cl_mem b, cl_bool c, cl_map_flags d, size_t e, size_t f, cl_uint g, const cl_event *h, cl_event *i, cl_int *code), (a, b, c, d, e, f, g, h, i, code), NT_NONE(code)) \
    CALL(cl_int, clEnqueueUnmapMemObject, (cl_command_queue a, cl_mem b, void *c, cl_uint d, const cl_event *e, cl_event *f), (a, b, c, d, e, f), NT_CALL_MISSING) \
    CALL(cl_int, clEnqueueNDRangeKernel, (cl_command_queue a, cl_kernel b, cl_uint c, const size_t *d, const size_t *e, const size_t *f, cl_uint g, const cl_event *h, cl_event *i), (a, b, c, d, e, f, g, h, i), NT_CALL_MISSING) \
    CALL(cl_int, clFlush, (cl_command_queue a), (a), NT_CALL_MISSING) \
    CALL(cl_int, clFinish, (cl_command_queue a), (a), NT_CALL_MISSING) \
    CALL(cl_int, clWaitForEvents, (cl_uint a, const cl_event *b), (a, b), NT_CALL_MISSING) \
    CALL(cl_int, clGetEventProfilingInfo, (cl_event a, cl_profiling_info b, size_t c, void *d, size_t *e), (a, b, c, d, e), NT_CALL_MISSING) \
    CALL(cl_int, clReleaseEvent, (cl_event a), (a), NT_CALL_MISSING)

/// The status of a call that the loader lacks; no driver gives it.
#define NT_CALL_MISSING (-2000000)
#define NT_NONE(code) (*(code) = NT_CALL_MISSING, NULL)

#define NT_PRAGMA(text) _Pragma(#text)
#define NT_RENAMED(result, name, parameters, arguments, missing) NT_PRAGMA(redefine_extname name nt_##name)
NT_OPENCL_CALLS(NT_RENAMED)

#define CL_TARGET_OPENCL_VERSION 300
// clCreateCommandQueue: the one queue constructor that every version has.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

/// Why there is no OpenCL loader in this process, in words; NULL when there is one. Opens it when nothing has yet. Static memory. Any thread.
const char *nt_opencl_problem(void);

// cl_khr_command_buffer as it has been since its first version, whatever version of it the header knows. Of the launch's properties only NULL is used.
typedef struct nt_command_buffer_object *nt_command_buffer;
typedef nt_command_buffer(CL_API_CALL *nt_create_command_buffer)(
    cl_uint num_queues, const cl_command_queue *queues, const void *properties, cl_int *error);
typedef cl_int(CL_API_CALL *nt_finalize_command_buffer)(nt_command_buffer buffer);
typedef cl_int(CL_API_CALL *nt_release_command_buffer)(nt_command_buffer buffer);
typedef cl_int(CL_API_CALL *nt_enqueue_command_buffer)(
    cl_uint num_queues, cl_command_queue *queues, nt_command_buffer buffer, cl_uint num_events, const cl_event *events, cl_event *event);
typedef cl_int(CL_API_CALL *nt_command_ndrange_kernel)(
    nt_command_buffer buffer, cl_command_queue queue, const void *properties, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
    const size_t *global, const size_t *local, cl_uint num_sync_points, const cl_uint *sync_points, cl_uint *sync_point, void *handle);

#endif
