import CoreGraphics

/// 8-bit blue, green, red, alpha.
public let kCVPixelFormatType_32BGRA: OSType = 0x4247_5241
/// 8-bit red, green, blue, alpha.
public let kCVPixelFormatType_32RGBA: OSType = 0x5247_4241
/// 8-bit alpha, blue, green, red.
public let kCVPixelFormatType_32ABGR: OSType = 0x4142_4752
/// 8-bit alpha, red, green, blue.
public let kCVPixelFormatType_32ARGB: OSType = 0x0000_0020
/// 8-bit red, green, blue.
public let kCVPixelFormatType_24RGB: OSType = 0x0000_0018
/// 8-bit blue, green, red.
public let kCVPixelFormatType_24BGR: OSType = 0x3234_4247
/// 8-bit grey.
public let kCVPixelFormatType_OneComponent8: OSType = 0x4c30_3038
/// Half-precision grey, 0...1.
public let kCVPixelFormatType_OneComponent16Half: OSType = 0x4c30_3068
/// Single-precision grey, 0...1.
public let kCVPixelFormatType_OneComponent32Float: OSType = 0x4c30_3066
/// Two planes, luma 0...255 and Cb Cr ("420f").
public let kCVPixelFormatType_420YpCbCr8BiPlanarFullRange: OSType = 0x3432_3066
/// Two planes, luma 16...235 and Cb Cr ("420v").
public let kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange: OSType = 0x3432_3076

// Keys of the attributes of a pixel buffer. All are accepted; none changes how a buffer is made.
public nonisolated(unsafe) let kCVPixelBufferPixelFormatTypeKey: CFString = "PixelFormatType"
public nonisolated(unsafe) let kCVPixelBufferMemoryAllocatorKey: CFString = "MemoryAllocator"
public nonisolated(unsafe) let kCVPixelBufferWidthKey: CFString = "Width"
public nonisolated(unsafe) let kCVPixelBufferHeightKey: CFString = "Height"
public nonisolated(unsafe) let kCVPixelBufferBytesPerRowAlignmentKey: CFString = "BytesPerRowAlignment"
public nonisolated(unsafe) let kCVPixelBufferCGBitmapContextCompatibilityKey: CFString = "CGBitmapContextCompatibility"
public nonisolated(unsafe) let kCVPixelBufferCGImageCompatibilityKey: CFString = "CGImageCompatibility"
public nonisolated(unsafe) let kCVPixelBufferOpenGLCompatibilityKey: CFString = "OpenGLCompatibility"
public nonisolated(unsafe) let kCVPixelBufferOpenGLESCompatibilityKey: CFString = "OpenGLESCompatibility"
public nonisolated(unsafe) let kCVPixelBufferMetalCompatibilityKey: CFString = "MetalCompatibility"
public nonisolated(unsafe) let kCVPixelBufferIOSurfacePropertiesKey: CFString = "IOSurfaceProperties"
