#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define CL_TARGET_OPENCL_VERSION 300
#include "CNTGraphicsStandIn.h"

#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What drivers say about their devices. The size of memory is that of the device behind.
typedef struct description {
    const char *name, *platform, *device, *vendor, *version, *language, *driver, *extensions;
    cl_uint compute_units, clock, base_alignment_bits;
    size_t group_size, item_sizes[3];
    cl_ulong local_bytes;
} description;

#define COMMON_EXTENSIONS \
    "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics " \
    "cl_khr_local_int32_extended_atomics cl_khr_fp64 cl_khr_byte_addressable_store cl_khr_int64_base_atomics "

static const description descriptions[] = {
    {"sm_70", "NVIDIA CUDA", "Tesla V100-SXM2-16GB", "NVIDIA Corporation", "OpenCL 3.0 CUDA", "OpenCL C 1.2 ", "550.54.15", COMMON_EXTENSIONS "cl_nv_pragma_unroll",
        80, 1530, 4096, 1024, {1024, 1024, 64}, 49152},
    {"sm_90", "NVIDIA CUDA", "NVIDIA H100 80GB HBM3", "NVIDIA Corporation", "OpenCL 3.0 CUDA", "OpenCL C 1.2 ", "550.54.15", COMMON_EXTENSIONS "cl_nv_pragma_unroll",
        132, 1980, 4096, 1024, {1024, 1024, 64}, 49152},
    {"gfx90a", "AMD Accelerated Parallel Processing", "gfx90a:sramecc+:xnack-", "Advanced Micro Devices, Inc.", "OpenCL 2.0 ",
        "OpenCL C 2.0 ", "3602.0 (HSA1.1,LC)", COMMON_EXTENSIONS "cl_khr_fp16 cl_khr_subgroups", 104, 1700, 1024, 256, {1024, 1024, 1024}, 65536},
    {"gfx1100", "AMD Accelerated Parallel Processing", "gfx1100", "Advanced Micro Devices, Inc.", "OpenCL 2.0 ", "OpenCL C 2.0 ",
        "3602.0 (HSA1.1,LC)", COMMON_EXTENSIONS "cl_khr_fp16 cl_khr_subgroups", 48, 2482, 1024, 256, {1024, 1024, 1024}, 65536},
};
enum { description_count = sizeof descriptions / sizeof *descriptions };

const char *const nt_stand_in_names[description_count + 1] = {"sm_70", "sm_90", "gfx90a", "gfx1100", NULL};

static const description *current;

bool nt_stand_in(const char *name) {
    current = NULL;
    if (!name) return true;
    for (int i = 0; i < description_count; i++)
        if (strcmp(descriptions[i].name, name) == 0) current = &descriptions[i];
    return current != NULL;
}

// The loader's function of the same name as the one that asks.
#define NEXT(call) ((__typeof__(&call))dlsym(RTLD_NEXT, #call))

// Answers that a test wants, in the order in which they were given.
static struct {
    char call[32];
    unsigned property;
    void *bytes;
    size_t byte_count, announced;
} wanted[16];
static int wanted_count;

void nt_stand_in_answer(const char *call, unsigned property, const void *bytes, size_t byte_count, size_t announced) {
    if (!call) {
        while (wanted_count) free(wanted[--wanted_count].bytes);
        return;
    }
    if (wanted_count == sizeof wanted / sizeof *wanted) abort();
    void *copy = malloc(byte_count + 1);
    if (!copy) abort();
    memcpy(copy, bytes, byte_count);
    snprintf(wanted[wanted_count].call, sizeof wanted->call, "%s", call);
    wanted[wanted_count].property = property;
    wanted[wanted_count].bytes = copy;
    wanted[wanted_count].byte_count = byte_count;
    wanted[wanted_count++].announced = announced;
}

static int wanted_place(const char *call, unsigned property) {
    for (int i = 0; i < wanted_count; i++)
        if (wanted[i].property == property && strcmp(wanted[i].call, call) == 0) return i;
    return -1;
}

static cl_int wanted_answer(int at, size_t room, void *target, size_t *needed) {
    if (needed) *needed = wanted[at].announced;
    if (!target) return CL_SUCCESS;
    if (room < wanted[at].byte_count) return CL_INVALID_VALUE;
    memcpy(target, wanted[at].bytes, wanted[at].byte_count);
    return CL_SUCCESS;
}

static cl_int answer(const void *value, size_t byte_count, size_t room, void *target, size_t *needed) {
    if (needed) *needed = byte_count;
    if (!target) return CL_SUCCESS;
    if (room < byte_count) return CL_INVALID_VALUE;
    memcpy(target, value, byte_count);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(
    cl_platform_id platform, cl_platform_info property, size_t room, void *target, size_t *needed) {
    int at = wanted_place("clGetPlatformInfo", property);
    if (at >= 0) return wanted_answer(at, room, target, needed);
    if (current && property == CL_PLATFORM_NAME) return answer(current->platform, strlen(current->platform) + 1, room, target, needed);
    return NEXT(clGetPlatformInfo)(platform, property, room, target, needed);
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info property, size_t room, void *target, size_t *needed) {
    const description *d = current;
    const cl_device_type type = CL_DEVICE_TYPE_GPU;
    const cl_uint one = 1;
    const cl_bool no = CL_FALSE;
    // What OpenCL 3.0 has beside the one language that it names for older programs.
    const cl_name_version languages[] = {{CL_MAKE_VERSION(1, 2, 0), "OpenCL C"}, {CL_MAKE_VERSION(3, 0, 0), "OpenCL C"}};
    const cl_name_version features[] = {{CL_MAKE_VERSION(3, 0, 0), "__opencl_c_int64"}, {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_fp64"}};
    int at = wanted_place("clGetDeviceInfo", property);
    if (at >= 0) return wanted_answer(at, room, target, needed);
#define TEXT(field) return answer(d->field, strlen(d->field) + 1, room, target, needed)
#define VALUE(value) return answer(&(value), sizeof(value), room, target, needed)
    if (d) {
        switch (property) {
        case CL_DEVICE_NAME: TEXT(device);
        case CL_DEVICE_VENDOR: TEXT(vendor);
        case CL_DEVICE_VERSION: TEXT(version);
        case CL_DEVICE_OPENCL_C_VERSION: TEXT(language);
        case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
            if (strncmp(d->version, "OpenCL 3", 8) != 0) return CL_INVALID_VALUE;
            VALUE(languages);
        case CL_DEVICE_OPENCL_C_FEATURES:
            if (strncmp(d->version, "OpenCL 3", 8) != 0) return CL_INVALID_VALUE;
            VALUE(features);
        case CL_DRIVER_VERSION: TEXT(driver);
        case CL_DEVICE_EXTENSIONS: TEXT(extensions);
        case CL_DEVICE_TYPE: VALUE(type);
        case CL_DEVICE_MAX_COMPUTE_UNITS: VALUE(d->compute_units);
        case CL_DEVICE_MAX_CLOCK_FREQUENCY: VALUE(d->clock);
        case CL_DEVICE_MAX_WORK_GROUP_SIZE: VALUE(d->group_size);
        case CL_DEVICE_MAX_WORK_ITEM_SIZES: VALUE(d->item_sizes);
        case CL_DEVICE_LOCAL_MEM_SIZE: VALUE(d->local_bytes);
        case CL_DEVICE_MEM_BASE_ADDR_ALIGN: VALUE(d->base_alignment_bits);
        case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT: VALUE(one);
        case CL_DEVICE_HOST_UNIFIED_MEMORY: VALUE(no);
        }
    }
    return NEXT(clGetDeviceInfo)(device, property, room, target, needed);
}

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformIDs(cl_uint room, cl_platform_id *target, cl_uint *count) {
    cl_int code = NEXT(clGetPlatformIDs)(room, target, count);
    int at = wanted_place("clGetPlatformIDs", 0);
    if (at >= 0 && count) *count = (cl_uint)wanted[at].announced;
    return code;
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *target, cl_uint *count) {
    cl_int code = NEXT(clGetDeviceIDs)(platform, type, room, target, count);
    int at = wanted_place("clGetDeviceIDs", 0);
    if (at >= 0 && count) *count = (cl_uint)wanted[at].announced;
    return code;
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelWorkGroupInfo(
    cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info property, size_t room, void *target, size_t *needed) {
    int at = wanted_place("clGetKernelWorkGroupInfo", property);
    if (at >= 0) return wanted_answer(at, room, target, needed);
    return NEXT(clGetKernelWorkGroupInfo)(kernel, device, property, room, target, needed);
}

// The record: N.text and N.options per program; `launches`, a line each: program, kernel, global and local sizes in three dimensions. Nothing is run then.
static const char *folder;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const void *object;
    int program;
    char name[64];
} known[4096];
static int known_count, program_count;

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("NT_STAND_IN");
    folder = getenv("NT_STAND_IN_RECORD");
    if (name && !nt_stand_in(name)) {
        fprintf(stderr, "NT_STAND_IN: '%s' is not known\n", name);
        exit(2);
    }
}

// The newest entry of an object, whose address another one may have had before; -1 for none.
static int place(const void *object) {
    for (int i = known_count - 1; i >= 0; i--)
        if (known[i].object == object) return i;
    return -1;
}

static void note(const void *object, int program, const char *name) {
    if (known_count == sizeof known / sizeof *known) abort();
    known[known_count].object = object;
    known[known_count].program = program;
    snprintf(known[known_count++].name, sizeof known->name, "%s", name);
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithSource(
    cl_context context, cl_uint count, const char **texts, const size_t *lengths, cl_int *code) {
    cl_program program = NEXT(clCreateProgramWithSource)(context, count, texts, lengths, code);
    if (!folder || !program || count != 1) return program;
    pthread_mutex_lock(&lock);
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.text", folder, program_count);
    FILE *file = fopen(path, "w");
    if (!file) abort();
    fwrite(texts[0], 1, lengths ? lengths[0] : strlen(texts[0]), file);
    fclose(file);
    note(program, program_count++, "");
    pthread_mutex_unlock(&lock);
    return program;
}

// Options for the device behind: what a described device is asked to compile in a newer OpenCL C than that one has is compiled in OpenCL C 1.2.
static char *known_options(const cl_device_id *devices, const char *options) {
    char *result = strdup(options ? options : ""), language[64] = "";
    if (!result) abort();
    char *version = strstr(result, "-cl-std=CL");
    if (version && devices) NEXT(clGetDeviceInfo)(devices[0], CL_DEVICE_OPENCL_C_VERSION, sizeof language - 1, language, NULL);
    if (strncmp(language, "OpenCL C 1.", 11) == 0) memcpy(version, "-cl-std=CL1.2", 13);
    return result;
}

CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(
    cl_program program, cl_uint count, const cl_device_id *devices, const char *options, void(CL_CALLBACK *done)(cl_program, void *), void *user) {
    if (folder) {
        pthread_mutex_lock(&lock);
        int at = place(program);
        char path[4096];
        snprintf(path, sizeof path, "%s/%d.options", folder, at < 0 ? -1 : known[at].program);
        FILE *file = fopen(path, "w");
        if (!file) abort();
        fputs(options, file);
        fclose(file);
        pthread_mutex_unlock(&lock);
    }
    char *known_to_device = known_options(devices, options);
    cl_int code = NEXT(clBuildProgram)(program, count, devices, known_to_device, done, user);
    free(known_to_device);
    return code;
}

CL_API_ENTRY cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *name, cl_int *code) {
    cl_kernel kernel = NEXT(clCreateKernel)(program, name, code);
    if (folder && kernel) {
        pthread_mutex_lock(&lock);
        int at = place(program);
        note(kernel, at < 0 ? -1 : known[at].program, name);
        pthread_mutex_unlock(&lock);
    }
    return kernel;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(
    cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *global, const size_t *local, cl_uint count,
    const cl_event *events, cl_event *event) {
    if (folder && !event) {
        pthread_mutex_lock(&lock);
        int at = place(kernel);
        char path[4096];
        snprintf(path, sizeof path, "%s/launches", folder);
        FILE *file = fopen(path, "a");
        if (!file) abort();
        fprintf(file, "%d %s", at < 0 ? -1 : known[at].program, at < 0 ? "?" : known[at].name);
        for (int sizes = 0; sizes < 2; sizes++)
            for (cl_uint i = 0; i < 3; i++) fprintf(file, " %zu", i < dimensions ? (sizes ? local : global)[i] : 1);
        fputc('\n', file);
        fclose(file);
        pthread_mutex_unlock(&lock);
        return CL_SUCCESS;
    }
    // A device that allows kernels so many work-items in a group allows no more.
    int at = wanted_place("clGetKernelWorkGroupInfo", CL_KERNEL_WORK_GROUP_SIZE);
    size_t items = 1, allowed;
    for (cl_uint i = 0; local && i < dimensions; i++) items *= local[i];
    if (at >= 0 && wanted[at].byte_count == sizeof allowed) {
        memcpy(&allowed, wanted[at].bytes, sizeof allowed);
        if (allowed && items > allowed) return CL_INVALID_WORK_GROUP_SIZE;
    }
    return NEXT(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local, count, events, event);
}
