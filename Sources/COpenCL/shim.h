#define CL_TARGET_OPENCL_VERSION 300
// clCreateCommandQueue: the one queue constructor that every version has.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

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
