#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "COpenCL.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// What the program itself defines or links to under OpenCL's own name; NULL where it does not.
#define OWN(result, name, parameters, arguments, missing) extern __typeof__(name) own_##name __asm__(#name) __attribute__((weak));
NT_OPENCL_CALLS(OWN)

static struct {
#define MEMBER(result, name, parameters, arguments, missing) __typeof__(&name) name;
    NT_OPENCL_CALLS(MEMBER)
} calls;

static char problem[512];

static void load(void) {
    static const char *const names[] = {"libOpenCL.so.1", "libOpenCL.so"};
    bool isThere = false;
    // Global, as if linked: tools that are loaded before it under its names (LD_PRELOAD) hand on to it.
    for (int i = 0; i < 2 && !dlopen(names[i], RTLD_NOW | RTLD_GLOBAL); i++) {
        const char *words = dlerror();
        if (!words) words = "no reason given";
        // A file that was found is named with its folder; one that was not, as it was asked for.
        bool isFound = strncmp(words, names[i], strlen(names[i])) != 0 || !strstr(words, strerror(ENOENT));
        if (i && (isThere || !isFound)) continue;
        isThere = isFound;
        if (isFound) snprintf(problem, sizeof problem, "no OpenCL loader could be opened: %s", words);
        else snprintf(problem, sizeof problem, "no OpenCL loader (%s) is installed: %s", names[0], words);
    }
#define FIND(result, name, parameters, arguments, missing) \
    calls.name = own_##name ? own_##name : (__typeof__(&name))dlsym(RTLD_DEFAULT, #name);
    NT_OPENCL_CALLS(FIND)
    if (calls.clGetPlatformIDs) problem[0] = 0;
    else if (!problem[0]) snprintf(problem, sizeof problem, "the OpenCL loader lacks clGetPlatformIDs");
}

static void ready(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
}

const char *nt_opencl_problem(void) {
    ready();
    return problem[0] ? problem : NULL;
}

#define FORWARD(result, name, parameters, arguments, missing) \
    CL_API_ENTRY result CL_API_CALL name parameters { \
        ready(); \
        return calls.name ? calls.name arguments : (missing); \
    }
NT_OPENCL_CALLS(FORWARD)
