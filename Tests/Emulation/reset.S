// What the emulated processor executes first: the last 64 KiB of a ROM that ends at 4 GiB. It enters 64-bit mode with the first 4 GiB
// mapped to themselves, switches on every register file that the processor has, AMX's tiles included, copies system.c from the 64 KiB
// below to 1 MiB and jumps there.
    .code16
start:
    cli
    lgdtl %cs:(descriptors_pointer - start)
    mov %cr0, %eax
    or $1, %eax
    mov %eax, %cr0
    ljmpl $0x08, $protected

    .code32
protected:
    mov $0x10, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %ss
    // One table at 0x1000, one of four pages of 1 GiB at 0x2000.
    movl $0x2003, 0x1000
    movl $0, 0x1004
    mov $0x2000, %edi
    mov $0x83, %eax
map:
    mov %eax, (%edi)
    movl $0, 4(%edi)
    add $8, %edi
    add $0x40000000, %eax
    jnc map
    mov $0x1000, %eax
    mov %eax, %cr3
    mov $0x50620, %eax          // PAE, SSE and its exceptions, FSGSBASE, XSAVE
    mov %eax, %cr4
    mov $0xc0000080, %ecx       // EFER: long mode, SYSCALL
    mov $0x101, %eax
    xor %edx, %edx
    wrmsr
    mov $0x80000023, %eax       // paging, floating point, protection
    mov %eax, %cr0
    ljmpl $0x18, $long_mode

    .code64
long_mode:
    mov $0x20, %eax
    mov %eax, %ss
    mov $0xd, %eax
    xor %ecx, %ecx
    cpuid                       // EAX: what XCR0 may hold
    xor %ecx, %ecx
    xor %edx, %edx
    xsetbv
    mov $0x90000, %esp
    mov $0xfffe0000, %esi
    mov $0x100000, %edi
    mov $0x10000, %ecx
    rep movsb
    mov $0x100000, %eax
    jmp *%rax

    .balign 8
descriptors:
    .quad 0
    .quad 0x00cf9b000000ffff    // 0x08: 32-bit code
    .quad 0x00cf93000000ffff    // 0x10: data
    .quad 0x00af9b000000ffff    // 0x18: 64-bit code
    .quad 0x00cf93000000ffff    // 0x20: data
descriptors_pointer:
    .word descriptors_pointer - descriptors - 1
    .long descriptors

    .org 0xfff0
    .code16
    .byte 0xe9                  // jmp start
    .word start - (. + 2)
    .org 0x10000
