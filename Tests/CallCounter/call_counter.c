#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CNTCallCounter.h"

#include "counting.h"

#include <link.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic bool nt_is_counting;
_Thread_local bool nt_is_counting_thread;
_Atomic uint64_t nt_counted[nt_count_kinds];

bool nt_call_counts_available(void) { return NT_COUNTS_CALLS; }

// Guarding: the code's pages lose the right to run. The first entry faults, is counted, and gives the right back.

typedef struct code_range {
    char *start;
    size_t byte_count;
} code_range;

static code_range guarded[64];
static int guarded_count;
static struct sigaction previous_handler;

static void protect(int protection) {
    for (int i = 0; i < guarded_count; i++) mprotect(guarded[i].start, guarded[i].byte_count, protection);
}

static void faulted(int signal, siginfo_t *info, void *context) {
    (void)context;
    const char *address = info->si_addr;
    for (int i = 0; i < guarded_count; i++) {
        if (address < guarded[i].start || address >= guarded[i].start + guarded[i].byte_count) continue;
        protect(PROT_READ | PROT_EXEC);
        atomic_store(&nt_counted[nt_count_entry], 1);
        return;
    }
    sigaction(signal, &previous_handler, NULL);  // a fault of the program's own: again, without this handler
}

typedef struct name_list {
    const char *const *names;
    int count;
} name_list;

static int add_object(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    const name_list *list = context;
    bool matches = false;
    for (int i = 0; i < list->count; i++) matches |= strstr(info->dlpi_name, list->names[i]) != NULL;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; matches && i < info->dlpi_phnum && guarded_count < 64; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        const uintptr_t start = (info->dlpi_addr + part->p_vaddr) & ~(page - 1);
        const uintptr_t end = (info->dlpi_addr + part->p_vaddr + part->p_memsz + page - 1) & ~(page - 1);
        guarded[guarded_count++] = (code_range){(char *)start, end - start};
    }
    return 0;
}

int nt_call_counts_guard(const char *const *names, int count) {
    name_list list = {names, count};
    guarded_count = 0;
    dl_iterate_phdr(add_object, &list);
    struct sigaction action = {.sa_sigaction = faulted, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, &previous_handler);
    return guarded_count;
}

void nt_call_counts_wait(void) {
    static uint32_t word = 1;
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);  // the word is not 0, so the call returns
}

void nt_call_counts_begin(void) {
    for (int i = 0; i < nt_count_kinds; i++) atomic_store(&nt_counted[i], 0);
    nt_is_counting_thread = true;
    protect(PROT_READ);
    atomic_store(&nt_is_counting, true);
}

nt_call_counts nt_call_counts_end(void) {
    atomic_store(&nt_is_counting, false);
    protect(PROT_READ | PROT_EXEC);
    nt_is_counting_thread = false;
    return (nt_call_counts){
        .allocations = nt_counted[nt_count_allocation], .frees = nt_counted[nt_count_free],
        .locks = nt_counted[nt_count_lock], .waits = nt_counted[nt_count_wait], .wakes = nt_counted[nt_count_wake],
        .entries = nt_counted[nt_count_entry]};
}
