// sched_getaffinity and sched_setaffinity are GNU extensions.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CNTPlatform.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>

#define ARCH_REQ_XCOMP_PERM 0x1023
#define XFEATURE_XTILEDATA 18

static uint64_t read_xcr0(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return ((uint64_t)high << 32) | low;
}

static uint32_t probe_isa(void) {
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    const bool osxsave = c & (1u << 27), fma = c & (1u << 12), avx = c & (1u << 28), f16c = c & (1u << 29);
    if (!osxsave || !avx) return 0;
    const uint64_t xcr0 = read_xcr0();
    if ((xcr0 & 0x6) != 0x6) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    uint32_t bits = 0;
    if ((b & (1u << 5)) && fma && f16c) bits |= NT_ISA_AVX2;
    const bool f = b & (1u << 16), dq = b & (1u << 17), bw = b & (1u << 30), vl = b & (1u << 31);
    if ((bits & NT_ISA_AVX2) && f && dq && bw && vl && (xcr0 & 0xe6) == 0xe6) {
        bits |= NT_ISA_AVX512;
        if (c & (1u << 11)) bits |= NT_ISA_AVX512_VNNI;
        if (d & (1u << 23)) bits |= NT_ISA_AVX512_FP16;
        const bool amx_tile = d & (1u << 24), amx_bf16 = d & (1u << 22), amx_int8 = d & (1u << 25);
        if (amx_tile && (xcr0 & 0x60000) == 0x60000
            && syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0) {
            if (amx_bf16) bits |= NT_ISA_AMX_BF16;
            if (amx_int8) bits |= NT_ISA_AMX_INT8;
        }
        uint32_t a1, b1, c1, d1;
        if (__get_cpuid_count(7, 1, &a1, &b1, &c1, &d1) && (a1 & (1u << 5))) bits |= NT_ISA_AVX512_BF16;
    }
    return bits;
}
#else
static uint32_t probe_isa(void) { return 0; }
#endif

static char problem[160];

static uint32_t ceiling_from_environment(void) {
    const char *name = getenv("NEEDLETAIL_MAX_ISA");
    if (!name || !*name || !strcmp(name, "amx")) return ~0u;
    const uint32_t avx512 = NT_ISA_AVX2 | NT_ISA_AVX512 | NT_ISA_AVX512_VNNI;
    if (!strcmp(name, "portable")) return 0;
    if (!strcmp(name, "avx2")) return NT_ISA_AVX2;
    if (!strcmp(name, "avx512")) return avx512;
    if (!strcmp(name, "avx512bf16")) return avx512 | NT_ISA_AVX512_BF16;
    if (!strcmp(name, "avx512fp16")) return avx512 | NT_ISA_AVX512_BF16 | NT_ISA_AVX512_FP16;
    snprintf(
        problem, sizeof problem, "NEEDLETAIL_MAX_ISA: expected one of portable, avx2, avx512, avx512bf16, avx512fp16, amx, found '%.40s'", name);
    return ~0u;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t probed;
static _Atomic uint32_t allowed, model;
static char brand[64] = "unknown";

static void probe(void) {
    probed = probe_isa();
    atomic_store(&allowed, ceiling_from_environment());
#if defined(__x86_64__)
    uint32_t words[12];
    uint32_t a, b, c, d;
    if (__get_cpuid(0x80000000, &a, &b, &c, &d) && a >= 0x80000004) {
        for (uint32_t i = 0; i < 3; i++)
            __get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]);
        memcpy(brand, words, 48);
        brand[48] = 0;
        char *start = brand;
        while (*start == ' ') start++;
        memmove(brand, start, strlen(start) + 1);
        for (size_t n = strlen(brand); n > 0 && brand[n - 1] == ' '; n--) brand[n - 1] = 0;
    }
#endif
}

uint32_t nt_isa_bits(void) {
    pthread_once(&once, probe);
    uint32_t bits = probed, models = atomic_load_explicit(&model, memory_order_relaxed);
    if (bits & NT_ISA_AVX512_FP16) models &= ~(uint32_t)NT_ISA_FLOAT16_MODEL;
    if (bits & NT_ISA_AMX_BF16) models &= ~(uint32_t)NT_ISA_AMX_MODEL;
    bits |= models;
    return bits & atomic_load_explicit(&allowed, memory_order_relaxed);
}

static void set_model(uint32_t bit, bool used) {
    if (used) atomic_fetch_or(&model, bit);
    else atomic_fetch_and(&model, ~bit);
}

void nt_isa_set_float16_model(bool used) { set_model(NT_ISA_FLOAT16_MODEL, used); }
void nt_isa_set_amx_model(bool used) { set_model(NT_ISA_AMX_MODEL, used); }

const char *nt_isa_problem(void) {
    pthread_once(&once, probe);
    return problem[0] ? problem : NULL;
}

void nt_isa_set_ceiling(uint32_t ceiling) {
    pthread_once(&once, probe);
    atomic_store(&allowed, ceiling);
}

const char *nt_isa_name(uint32_t bits) {
    if (bits & NT_ISA_AMX_BF16) return "amx";
    if (bits & NT_ISA_AVX512_FP16) return "avx512fp16";
    if (bits & NT_ISA_AVX512_BF16) return "avx512bf16";
    if (bits & NT_ISA_AVX512) return "avx512";
    if (bits & NT_ISA_AVX2) return "avx2";
    return "portable";
}

const char *nt_cpu_brand(void) {
    pthread_once(&once, probe);
    return brand;
}

size_t nt_cache_bytes(int level) {
    long bytes = 0;
    switch (level) {
    case 1: bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); return bytes > 0 ? (size_t)bytes : 32u << 10;
    case 2: bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); return bytes > 0 ? (size_t)bytes : 512u << 10;
    default: bytes = sysconf(_SC_LEVEL3_CACHE_SIZE); return bytes > 0 ? (size_t)bytes : 8u << 20;
    }
}

int nt_usable_cores(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        const int n = CPU_COUNT(&set);
        if (n > 0) return n;
    }
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}
