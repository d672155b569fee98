// What the values of an image are kept in, and how they are counted.
//
// Memory is counted in slots of four bytes. A slot holds one float32, or two bfloat16 or float16 of neighbouring channels, the lower
// channel in the lower half; an odd channel count leaves the upper half of a pixel's last slot without meaning (any finite
// number). So pixels always begin at a slot, and code that only moves pointers from pixel to pixel serves all three.
#ifndef NT_ELEMENT_H
#define NT_ELEMENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { NT_ELEMENT_FLOAT32, NT_ELEMENT_BFLOAT16, NT_ELEMENT_FLOAT16 };

/// Slots that `channels` neighbouring channels take.
static inline size_t nt_slots(int element, size_t channels) {
    return element == NT_ELEMENT_FLOAT32 ? channels : (channels + 1) / 2;
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

/// The nearest float16, ties to even: infinity from 65520 on, subnormal numbers below 2^-14; NaN stays NaN.
static inline uint16_t nt_float16_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return sign | 0x7e00u;
    if (magnitude >= 0x47800000u) return sign | 0x7c00u;
    if (magnitude < 0x38800000u) {
        // Adding 1/2 leaves multiples of 2^-24, what a subnormal float16 counts, as the last bits, rounded.
        float sum;
        memcpy(&sum, &magnitude, sizeof sum);
        sum += 0.5f;
        memcpy(&bits, &sum, sizeof bits);
        return (uint16_t)(sign | (bits - 0x3f000000u));
    }
    return (uint16_t)(sign | ((magnitude + 0xfffu + (magnitude >> 13 & 1u)) >> 13) - (112u << 10));
}

/// The value of a float16.
static inline float nt_float16_value(uint16_t half) {
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16, magnitude = half & 0x7fffu;
    uint32_t bits;
    float x;
    if (magnitude >= 0x7c00u) {
        bits = 0x7f800000u | magnitude << 13;
    } else {
        // As a float32 the bits stand for 2^-112 of the value.
        bits = magnitude << 13;
        memcpy(&x, &bits, sizeof x);
        x *= 0x1p112f;
        memcpy(&bits, &x, sizeof bits);
    }
    bits |= sign;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/// The nearest number of an element of two in a slot, and its value.
static inline uint16_t nt_half_bits(int element, float x) {
    return element == NT_ELEMENT_FLOAT16 ? nt_float16_bits(x) : nt_bfloat16_bits(x);
}
static inline float nt_half_value(int element, uint16_t half) {
    return element == NT_ELEMENT_FLOAT16 ? nt_float16_value(half) : nt_bfloat16_value(half);
}

#endif
