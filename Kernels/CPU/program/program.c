#include "program.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

typedef struct program_run {
    const nt_program *program;
    nt_program_state *state;
    // Where threads meet: the last to arrive opens the next phase.
    _Alignas(64) _Atomic uint32_t arrived;
    _Alignas(64) _Atomic uint32_t phase;
    _Alignas(64) _Atomic int code;
    _Atomic size_t failed_step;
} program_run;

static void meet(program_run *run, size_t threads) {
    if (threads == 1) return;
    const uint32_t phase = atomic_load_explicit(&run->phase, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&run->arrived, 1, memory_order_acq_rel) + 1 == threads) {
        atomic_store_explicit(&run->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&run->phase, phase + 1, memory_order_release);
        return;
    }
    unsigned spins = 0;
    while (atomic_load_explicit(&run->phase, memory_order_acquire) == phase) nt_thread_relax(&spins);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const float *input(const nt_program_state *state, nt_place place) {
    return place.buffer < 0 ? NULL : state->buffers[place.buffer] + place.offset;
}

static void run_shares(program_run *run, size_t index, size_t thread, size_t threads) {
    const nt_step *step = &run->program->steps[index];
    const nt_program_state *state = run->state;
    if (thread >= step->parts) return;
    nt_step_call call = {.parameters = step->parameters, .parts = step->parts};
    for (size_t i = 0; i < NT_STEP_MAX_INPUTS; i++) call.inputs[i] = input(state, step->inputs[i]);
    for (size_t i = 0; i < NT_STEP_MAX_OUTPUTS; i++) call.outputs[i] = (float *)input(state, step->outputs[i]);
    call.scratch = state->scratch + thread * state->scratch_stride;
    for (size_t part = thread; part < step->parts; part += threads) {
        call.part = part;
        const int code = step->run(&call);
        if (!code) continue;
        int none = 0;
        if (atomic_compare_exchange_strong(&run->code, &none, code)) atomic_store(&run->failed_step, index);
    }
}

static void walk(void *context, size_t thread, size_t threads) {
    program_run *run = context;
    const nt_program *program = run->program;
    double *seconds = thread == 0 ? run->state->seconds : NULL;
    double start = seconds ? now() : 0;
    for (size_t i = 0; i < program->count; i++) {
        const bool meets = i > 0 && (program->steps[i].parts > 1 || program->steps[i - 1].parts > 1);
        if (meets) {
            meet(run, threads);
            if (seconds && i > 0) {
                const double end = now();
                seconds[i - 1] += end - start;
                start = end;
            }
        }
        // After a failure threads still walk to the end, so that all of them make every meeting.
        if (!atomic_load_explicit(&run->code, memory_order_relaxed)) run_shares(run, i, thread, threads);
        if (seconds && (i + 1 == program->count || (program->steps[i].parts == 1 && program->steps[i + 1].parts == 1))) {
            const double end = now();
            seconds[i] += end - start;
            start = end;
        }
    }
}

int nt_program_run(const nt_program *program, nt_program_state *state, nt_thread_pool *pool) {
    program_run run = {.program = program, .state = state};
    const size_t available = nt_thread_pool_threads(pool);
    const size_t threads = program->threads < available ? program->threads : available;
    if (threads < 2 || !nt_thread_pool_run(pool, threads, walk, &run)) walk(&run, 0, 1);
    state->failed_step = atomic_load(&run.failed_step);
    return atomic_load(&run.code);
}

typedef struct images_run {
    const nt_program *program;
    nt_program_state *states;
    const nt_image_buffer *buffers;
    size_t buffer_count, count;
    _Alignas(64) _Atomic size_t next;
    _Atomic int code;
    _Atomic size_t failed_step;
} images_run;

// Takes images until there are no more.
static void run_images(void *context, size_t thread, size_t threads) {
    (void)threads;
    images_run *run = context;
    nt_program_state *state = &run->states[thread];
    for (;;) {
        const size_t image = atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed);
        if (image >= run->count) return;
        for (size_t i = 0; i < run->buffer_count; i++)
            state->buffers[run->buffers[i].buffer] = run->buffers[i].memory + image * run->buffers[i].stride;
        const int code = nt_program_run(run->program, state, NULL);
        if (!code) continue;
        int none = 0;
        if (atomic_compare_exchange_strong(&run->code, &none, code)) atomic_store(&run->failed_step, state->failed_step);
        return;
    }
}

int nt_program_run_images(
    const nt_program *program, nt_program_state *states, const nt_image_buffer *buffers, size_t buffer_count, size_t count,
    nt_thread_pool *pool) {
    images_run run = {.program = program, .states = states, .buffers = buffers, .buffer_count = buffer_count, .count = count};
    const size_t threads = nt_thread_pool_threads(pool) < count ? nt_thread_pool_threads(pool) : count;
    if (threads < 2 || !nt_thread_pool_run(pool, threads, run_images, &run)) run_images(&run, 0, 1);
    states[0].failed_step = atomic_load(&run.failed_step);
    return atomic_load(&run.code);
}
