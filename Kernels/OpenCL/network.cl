// All kernels of a network in one launch, for devices whose compute units are threads of a processor: one group on each, which share the work-items of
// one stage after the other.
//
// A group takes items from a stage's counter until none is left, so that any number of groups, running at once or one after the other, does all the work: a
// group only waits for items that another has taken and is at. What comes before this text: the kernels as functions, NT_BASES (the buffers),
// NT_BASE_PARAMETERS (as parameters), NT_ROW (numbers in a row) and NT_CASES (one case per kind of stage: the call for item `item`).
//
// A row of `table` per stage: its kind, its items, how many are taken at a time, the last stage that must be done before (-1 for none), then for each buffer
// argument which of NT_BASES it lies in, and how many 4-byte words behind the beginning. `counters` has 32 numbers per stage, apart so that they share no
// cache line: taken items and, 16 places on, done items; then the groups that have ended. They are zero between launches. Stages first..<last are run.
#define NT_PATIENCE 100000
#define NT_AT(k) ((global void *)(bases[row[4 + 2 * (k)]] + (size_t)row[5 + 2 * (k)] * 4))

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void nt_network(
    NT_BASE_PARAMETERS, global const int *table, volatile global int *counters, int stages, int groups, int first, int last)
{
    global uchar *bases[] = {NT_BASES};
    int reached = first - 1;
    for (int stage = first; stage < last; stage++) {
        global const int *row = table + stage * NT_ROW;
        volatile global int *taken = counters + stage * 32;
        int items = row[1], step = row[2], needed = row[3];
        for (int waits = 0; reached < needed && waits < NT_PATIENCE; waits++)
            reached += counters[(reached + 1) * 32 + 16] == table[(reached + 1) * NT_ROW + 1];
        if (reached < needed) break;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        for (;;) {
            int begin = atomic_add(taken, step);
            if (begin >= items) break;
            int end = min(items, begin + step);
            for (int item = begin; item < end; item++) {
                switch (row[0]) { NT_CASES }
            }
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            atomic_add(taken + 16, end - begin);
        }
    }
    // The last to end leaves zeros.
    if (atomic_inc(counters + stages * 32) == groups - 1) {
        for (int stage = first; stage < last; stage++) counters[stage * 32] = counters[stage * 32 + 16] = 0;
        counters[stages * 32] = 0;
    }
}
