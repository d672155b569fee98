// As much of an operating system as a statically linked Linux program takes that computes and prints, on a bare processor.
//
// The program's file lies in the ROM, at `file_address`. It runs with the processor's full rights, alone, without interrupts; its system
// calls end here, its output goes to the first serial port, and an exception ends it with status 128 + its number.
#include <elf.h>
#include <stddef.h>
#include <stdint.h>

enum : uint64_t {
    file_address = 0xffc00000,    // of the program's file
    stack_address = 120ull << 20, // the program's stack grows down from here
    map_address = 256ull << 20,   // what it maps grows up from here
    memory_end = 1ull << 30,
};

static uint64_t heap_start, heap_end, map_end = map_address;

// MARK: The machine

static void out_byte(uint16_t port, uint8_t value) { __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port)); }

static uint8_t in_byte(uint16_t port) {
    uint8_t value;
    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

static void write_register(uint32_t number, uint64_t value) {
    __asm__ volatile("wrmsr" : : "c"(number), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)));
}

static void put(char c) {
    while (!(in_byte(0x3fd) & 0x20)) {}
    out_byte(0x3f8, (uint8_t)c);
}

static void put_text(const char *text) {
    while (*text) put(*text++);
}

static void put_number(uint64_t value, unsigned base) {
    char digits[24];
    int count = 0;
    do digits[count++] = "0123456789abcdef"[value % base];
    while (value /= base);
    while (count) put(digits[--count]);
}

// Ends the emulation. Its script reads the status from the last line.
static _Noreturn void shut_down(uint64_t status) {
    put_text("\nexit status ");
    put_number(status & 0xff, 10);
    put('\n');
    while (!(in_byte(0x3fd) & 0x40)) {}
    for (const char *word = "Shutdown"; *word; word++) out_byte(0x8900, (uint8_t)*word);
    for (;;) __asm__ volatile("hlt");
}

// MARK: System calls

enum { calls_write = 1, calls_mmap = 9, calls_mprotect, calls_munmap, calls_brk, calls_rt_sigaction, calls_rt_sigprocmask,
    calls_writev = 20, calls_exit = 60, calls_readlink = 89, calls_arch_prctl = 158, calls_set_tid_address = 218,
    calls_futex = 202, calls_clock_gettime = 228, calls_exit_group = 231, calls_tgkill = 234, calls_set_robust_list = 273, calls_getrandom = 318 };
enum { no_entry = -2, no_memory = -12, invalid = -22, no_such_call = -38 };

static void write_bytes(uint64_t address, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) put(((const char *)address)[i]);
}

static int64_t write_pieces(const uint64_t (*pieces)[2], uint64_t count) {
    int64_t total = 0;
    for (uint64_t i = 0; i < count; i++) {
        write_bytes(pieces[i][0], pieces[i][1]);
        total += (int64_t)pieces[i][1];
    }
    return total;
}

static void clear(uint64_t from, uint64_t to) {
    uint64_t count = to - from;
    __asm__ volatile("rep stosb" : "+D"(from), "+c"(count) : "a"(0) : "memory");
}

// Memory is handed out once.
static int64_t map(uint64_t byte_count) {
    byte_count = (byte_count + 4095) & ~4095ull;
    if (byte_count > memory_end - map_end) return no_memory;
    clear(map_end, map_end + byte_count);
    map_end += byte_count;
    return (int64_t)(map_end - byte_count);
}

static int64_t set_break(uint64_t address) {
    if (address < heap_start || address >= stack_address - (16u << 20)) return (int64_t)heap_end;
    if (address > heap_end) clear(heap_end, address);
    heap_end = address;
    return (int64_t)heap_end;
}

// The thread pointer, and leave to use AMX's tiles, which the processor's control register gives already.
static int64_t processor_control(uint64_t code, uint64_t value) {
    if (code == 0x1002) {
        write_register(0xc0000100, value);
        return 0;
    }
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return code == 0x1023 && value < 32 && low >> value & 1 ? 0 : invalid;
}

static int64_t read_clock(uint64_t *time) {
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    const uint64_t ticks = (uint64_t)high << 32 | low;
    time[0] = ticks / 1000000000;
    time[1] = ticks % 1000000000;
    return 0;
}

static int64_t fill_random(uint8_t *bytes, uint64_t count) {
    static uint64_t state = 88172645463325252ull;
    for (uint64_t i = 0; i < count; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        bytes[i] = (uint8_t)(state >> 33);
    }
    return (int64_t)count;
}

typedef struct {
    uint64_t r9, r8, r10, rdx, rsi, rdi, number;
} system_arguments;

__attribute__((used)) int64_t system_call(const system_arguments *call) {
    switch (call->number) {
    case calls_write:
        write_bytes(call->rsi, call->rdx);
        return (int64_t)call->rdx;
    case calls_writev: return write_pieces((const uint64_t (*)[2])call->rsi, call->rdx);
    case calls_mmap: return call->r10 & 0x20 ? map(call->rsi) : no_such_call;
    case calls_brk: return set_break(call->rdi);
    case calls_arch_prctl: return processor_control(call->rdi, call->rsi);
    case calls_clock_gettime: return read_clock((uint64_t *)call->rsi);
    case calls_getrandom: return fill_random((uint8_t *)call->rdi, call->rsi);
    case calls_readlink: return no_entry;
    case calls_set_tid_address: return 1;
    case calls_mprotect:
    case calls_munmap:
    case calls_rt_sigaction:
    case calls_rt_sigprocmask:
    case calls_futex:
    case calls_set_robust_list: return 0;
    case calls_exit:
    case calls_exit_group: shut_down(call->rdi);
    case calls_tgkill: shut_down(128 + call->rdx);
    default: return no_such_call;
    }
}

void system_entry(void);
__asm__(
    "system_entry:\n"
    "    lea -256(%rsp), %rsp\n"  // below what the program may have beneath its stack pointer
    "    push %rbx\n    push %rcx\n    push %r11\n"
    "    push %rax\n    push %rdi\n    push %rsi\n    push %rdx\n    push %r10\n    push %r8\n    push %r9\n"
    "    mov %rsp, %rdi\n"
    "    mov %rsp, %rbx\n"
    "    and $-16, %rsp\n"
    "    call system_call\n"
    "    mov %rbx, %rsp\n"
    "    pop %r9\n    pop %r8\n    pop %r10\n    pop %rdx\n    pop %rsi\n    pop %rdi\n"
    "    lea 8(%rsp), %rsp\n"
    "    popfq\n    pop %rcx\n    pop %rbx\n"
    "    lea 256(%rsp), %rsp\n"
    "    jmp *%rcx\n");

// MARK: Exceptions

__attribute__((used)) _Noreturn void report_exception(uint64_t number, const uint64_t *frame) {
    const int has_code = number == 8 || (number >= 10 && number <= 14) || number == 17;
    put_text("\nexception ");
    put_number(number, 10);
    put_text(" at 0x");
    put_number(frame[has_code], 16);
    shut_down(128 + number);
}

extern const char exception_entries[];
__asm__(
    ".balign 32\n"
    "exception_entries:\n"
    ".set number, 0\n"
    ".rept 32\n"
    "    .balign 32\n"
    "    mov $number, %edi\n"
    "    mov %rsp, %rsi\n"
    "    and $-16, %rsp\n"
    "    call report_exception\n"
    "    .set number, number + 1\n"
    ".endr\n");

static void catch_exceptions(void) {
    static uint64_t gates[32][2];
    for (uint64_t i = 0; i < 32; i++) {
        const uint64_t entry = (uint64_t)exception_entries + 32 * i;
        gates[i][0] = (entry & 0xffff) | 0x18ull << 16 | 0x8e00ull << 32 | (entry >> 16 & 0xffff) << 48;
        gates[i][1] = entry >> 32;
    }
    const struct __attribute__((packed)) {
        uint16_t limit;
        void *base;
    } table = {sizeof gates - 1, gates};
    __asm__ volatile("lidt %0" : : "m"(table));
}

// MARK: The program

static void copy(uint64_t to, const char *from, uint64_t count) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}

static uint64_t load_program(const Elf64_Ehdr *file) {
    const Elf64_Phdr *part = (const Elf64_Phdr *)((const char *)file + file->e_phoff);
    uint64_t headers = 0;
    for (int i = 0; i < file->e_phnum; i++, part++) {
        if (part->p_type != PT_LOAD) continue;
        const char *from = (const char *)file + part->p_offset;
        clear(part->p_vaddr, part->p_vaddr + part->p_memsz);
        copy(part->p_vaddr, from, part->p_filesz);
        if (part->p_offset <= file->e_phoff && file->e_phoff < part->p_offset + part->p_filesz)
            headers = part->p_vaddr + file->e_phoff - part->p_offset;
        const uint64_t end = (part->p_vaddr + part->p_memsz + 4095) & ~4095ull;
        clear(part->p_vaddr + part->p_memsz, end);
        if (end > heap_start) heap_start = heap_end = end;
    }
    return headers;
}

__attribute__((used, section(".start"))) _Noreturn void start_system(void) {
    const Elf64_Ehdr *file = (const Elf64_Ehdr *)file_address;
    catch_exceptions();
    out_byte(0x3fb, 0x80);  // 115200 bits a second, 8 bits
    out_byte(0x3f8, 1);
    out_byte(0x3f9, 0);
    out_byte(0x3fb, 3);
    if (file->e_type != ET_EXEC || file->e_machine != EM_X86_64) {
        put_text("the program is not linked statically at a fixed address");
        shut_down(127);
    }
    write_register(0xc0000081, 0x18ull << 32);  // STAR: the segments of reset.S
    write_register(0xc0000082, (uint64_t)system_entry);
    write_register(0xc0000084, 0);
    static uint64_t random[2] = {0x243f6a8885a308d3, 0x13198a2e03707344};
    const uint64_t headers = load_program(file);
    const uint64_t values[] = {
        1, (uint64_t)"program", 0, 0,
        AT_PHDR, headers, AT_PHENT, file->e_phentsize, AT_PHNUM, file->e_phnum, AT_PAGESZ, 4096, AT_ENTRY, file->e_entry,
        AT_RANDOM, (uint64_t)random, AT_NULL, 0};
    uint64_t *stack = (uint64_t *)stack_address - sizeof values / sizeof values[0];
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) ((volatile uint64_t *)stack)[i] = values[i];
    __asm__ volatile("mov %0, %%rsp\n\txor %%edx, %%edx\n\tjmp *%1" : : "r"(stack), "r"(file->e_entry) : "rdx");
    __builtin_unreachable();
}
