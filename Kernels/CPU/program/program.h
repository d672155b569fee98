// A list of steps, run in order by one or more threads.
//
// A step is a function of parameters, of buffers it reads and writes, and of a share. Each thread walks the whole list; a step
// of several shares is preceded and followed by a meeting of all threads, a step of one share is run by the first thread.
// Shares are fixed when the list is made, so results do not depend on how many threads walk it.
#ifndef NT_PROGRAM_H
#define NT_PROGRAM_H

#include <CNTPlatform.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NT_STEP_MAX_INPUTS = 4, NT_STEP_MAX_OUTPUTS = 2 };

/// What a step's function gets. Inputs and outputs that the step does not have are NULL.
typedef struct nt_step_call {
    const void *parameters;
    const float *inputs[NT_STEP_MAX_INPUTS];
    float *outputs[NT_STEP_MAX_OUTPUTS];
    float *scratch;               ///< of this share alone
    size_t part, parts;
} nt_step_call;

/// Returns 0, or a code of the step's own for data it cannot work on.
typedef int (*nt_step_fn)(const nt_step_call *call);

/// A place in a buffer; `buffer` negative for none.
typedef struct nt_place {
    int buffer;
    size_t offset;                ///< slots of four bytes
} nt_place;

typedef struct nt_step {
    nt_step_fn run;
    const void *parameters;
    nt_place inputs[NT_STEP_MAX_INPUTS];
    nt_place outputs[NT_STEP_MAX_OUTPUTS];
    size_t parts;                 ///< shares, at least 1
} nt_step;

typedef struct nt_program {
    const nt_step *steps;
    size_t count;
    size_t threads;               ///< the most shares of a step
} nt_program;

/// What one run at a time needs.
typedef struct nt_program_state {
    float **buffers;
    float *scratch;               ///< threads * scratch_stride floats
    size_t scratch_stride;
    double *seconds;              ///< NULL, or one place a step, to which its time is added
    size_t failed_step;           ///< set when nt_program_run returns a code
} nt_program_state;

/// Runs all steps, on `pool` when it is free and on the caller's thread alone otherwise.
/// Returns 0, or the code of the first step that gave one, and that step in `failed_step`; the steps after it are not run.
int nt_program_run(const nt_program *program, nt_program_state *state, nt_thread_pool *pool);

/// A buffer that is the caller's: for image i, memory + i * stride.
typedef struct nt_image_buffer {
    int buffer;
    float *memory;
    size_t stride;                ///< floats
} nt_image_buffer;

/// Runs a program of one image on images 0..<count, each on one thread and from beginning to end, so that what it computes stays in that
/// thread's caches. `states` has one for each thread of `pool`; when the pool is not free the caller's thread runs all images with the first.
/// Returns 0, or the code of a step that gave one, and that step in the first state's `failed_step`.
int nt_program_run_images(
    const nt_program *program, nt_program_state *states, const nt_image_buffer *buffers, size_t buffer_count, size_t count,
    nt_thread_pool *pool);

#ifdef __cplusplus
}
#endif
#endif
