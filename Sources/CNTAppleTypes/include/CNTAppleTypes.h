// C types that must be open enumerations, as on Apple's systems: any raw value gives a value, never nil.
#ifndef CNT_APPLE_TYPES_H
#define CNT_APPLE_TYPES_H

#include <stdint.h>

/// The orientation of an image as EXIF counts it. 0 means unspecified and is treated as up.
enum __attribute__((enum_extensibility(open))) CGImagePropertyOrientation : uint32_t {
    kCGImagePropertyOrientationUp = 1,
    kCGImagePropertyOrientationUpMirrored = 2,
    kCGImagePropertyOrientationDown = 3,
    kCGImagePropertyOrientationDownMirrored = 4,
    kCGImagePropertyOrientationLeftMirrored = 5,
    kCGImagePropertyOrientationRight = 6,
    kCGImagePropertyOrientationRightMirrored = 7,
    kCGImagePropertyOrientationLeft = 8,
};
typedef enum CGImagePropertyOrientation CGImagePropertyOrientation;

#endif
