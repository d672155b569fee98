// What the values of an image are kept in, and how they are counted.
//
// Memory is counted in slots of four bytes. A slot holds one float32, or two bfloat16 of neighbouring channels, the lower
// channel in the lower half; an odd channel count leaves the upper half of a pixel's last slot without meaning (any finite
// number). So pixels always begin at a slot, and code that only moves pointers from pixel to pixel serves both.
#ifndef NT_ELEMENT_H
#define NT_ELEMENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { NT_ELEMENT_FLOAT32, NT_ELEMENT_BFLOAT16 };

/// Slots that `channels` neighbouring channels take.
static inline size_t nt_slots(int element, size_t channels) {
    return element == NT_ELEMENT_BFLOAT16 ? (channels + 1) / 2 : channels;
}

/// The nearest bfloat16, ties to even; NaN stays NaN.
static inline uint16_t nt_bfloat16_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/// The value of a bfloat16.
static inline float nt_bfloat16_value(uint16_t half) {
    const uint32_t bits = (uint32_t)half << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
