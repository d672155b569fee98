// What the machine is: instruction sets, caches, cores, aligned memory. No other code asks the processor. And what Linux has beyond C's library.
#ifndef CNT_PLATFORM_H
#define CNT_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CNTThreadPool.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Instruction-set bits. A kernel names the bits it needs; it may run when all of them are in `nt_isa_bits()`.
enum {
    NT_ISA_PORTABLE = 0,
    NT_ISA_AVX2 = 1u << 0,          ///< AVX2, FMA and F16C
    NT_ISA_AVX512 = 1u << 1,        ///< AVX-512 F, DQ, BW, VL (implies AVX2)
    NT_ISA_AVX512_BF16 = 1u << 2,   ///< VDPBF16PS and conversions
    NT_ISA_AVX512_VNNI = 1u << 3,   ///< VPDPBUSD
    NT_ISA_AVX512_FP16 = 1u << 4,   ///< half-precision arithmetic
    NT_ISA_AMX_BF16 = 1u << 5,      ///< AMX tiles, bf16 (permission from the kernel already granted)
    NT_ISA_AMX_INT8 = 1u << 6,      ///< AMX tiles, int8 (permission from the kernel already granted)
    NT_ISA_FLOAT16_MODEL = 1u << 7, ///< AVX512-FP16's results by AVX-512, slowly: found on no processor, see nt_isa_set_float16_model
    NT_ISA_AMX_MODEL = 1u << 8,     ///< AMX-BF16 with its tiles imitated in C: found on no processor, see nt_isa_set_amx_model
};

/// The instruction sets that the processor has and the operating system lets this process use, less what the
/// environment variable NEEDLETAIL_MAX_ISA (portable, avx2, avx512, avx512bf16, avx512fp16, amx) cuts off. Computed once; thread-safe.
uint32_t nt_isa_bits(void);

/// What is wrong with NEEDLETAIL_MAX_ISA, or NULL. A value that is not known cuts nothing off; who makes a session is told.
const char *nt_isa_problem(void);

/// Replaces the ceiling for this process (tests run every kernel under each). `ceiling` is a mask of NT_ISA_ bits that may be used.
void nt_isa_set_ceiling(uint32_t ceiling);

/// Lets this process use NT_ISA_FLOAT16_MODEL where the processor has no AVX512-FP16, or no longer: tests run plans in float16 on it.
void nt_isa_set_float16_model(bool used);

/// The same for NT_ISA_AMX_MODEL and AMX-BF16, where the processor has AVX512-BF16.
void nt_isa_set_amx_model(bool used);

/// The name of the best tier in `bits`: "portable", "avx2", "avx512", "avx512bf16", "avx512fp16", "amx".
const char *nt_isa_name(uint32_t bits);

/// The processor's brand string, or "unknown".
const char *nt_cpu_brand(void);

/// Bytes of data cache at `level` (1, 2 or 3) seen by one core; a documented default when the system does not say.
size_t nt_cache_bytes(int level);

/// Cores this process may run on (the scheduler's affinity mask), at least 1.
int nt_usable_cores(void);

/// `byte_count` bytes aligned to `alignment` (a power of two, at least 64 is wise); NULL when memory is short. Free with `nt_aligned_free`.
/// Blocks of 2 MiB and more are aligned to 2 MiB and advised to be huge pages.
void *nt_aligned_alloc(size_t alignment, size_t byte_count);
void nt_aligned_free(void *memory);

/// Lets two paths of one file system change places in one step. Returns 0, or the errno of what went wrong: EINVAL where the file system can't.
int nt_exchange_paths(const char *a, const char *b);

#ifdef __cplusplus
}
#endif
#endif
