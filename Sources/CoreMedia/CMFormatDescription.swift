import CoreVideo

/// What the pixels of a sample are: format and size.
public final class CMFormatDescription: Sendable {
    public let mediaSubType: OSType
    public let dimensions: CMVideoDimensions

    init(_ imageBuffer: CVImageBuffer) {
        mediaSubType = CVPixelBufferGetPixelFormatType(imageBuffer)
        dimensions = CMVideoDimensions(
            width: Int32(clamping: CVPixelBufferGetWidth(imageBuffer)), height: Int32(clamping: CVPixelBufferGetHeight(imageBuffer)))
    }

    /// The description of a buffer.
    public convenience init(imageBuffer: CVImageBuffer) throws { self.init(imageBuffer) }
}

/// The only kind of description here.
public typealias CMVideoFormatDescription = CMFormatDescription

/// Columns and rows.
public struct CMVideoDimensions: Sendable, Hashable {
    public var width: Int32
    public var height: Int32
    public init(width: Int32, height: Int32) { (self.width, self.height) = (width, height) }
}

@discardableResult
public func CMVideoFormatDescriptionCreateForImageBuffer(
    allocator: CFAllocator?, imageBuffer: CVImageBuffer, formatDescriptionOut: UnsafeMutablePointer<CMVideoFormatDescription?>
) -> OSStatus {
    formatDescriptionOut.pointee = CMFormatDescription(imageBuffer)
    return 0
}

public func CMVideoFormatDescriptionGetDimensions(_ videoDesc: CMVideoFormatDescription) -> CMVideoDimensions { videoDesc.dimensions }
public func CMFormatDescriptionGetMediaSubType(_ desc: CMFormatDescription) -> OSType { desc.mediaSubType }
