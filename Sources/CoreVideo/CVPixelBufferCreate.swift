import CoreGraphics
import Foundation
import NTImage

/// Makes a zeroed buffer. Formats: the constants of this module. The allocator and the attributes are ignored.
@discardableResult
public func CVPixelBufferCreate(
    _ allocator: CFAllocator?, _ width: Int, _ height: Int, _ pixelFormatType: OSType, _ pixelBufferAttributes: CFDictionary?,
    _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
    do {
        pixelBufferOut.pointee = try CVPixelBuffer(width: width, height: height, pixelFormatType: pixelFormatType)
        return kCVReturnSuccess
    } catch let error as ImageError {
        switch error.kind {
        case .unsupported: return kCVReturnInvalidPixelFormat
        case .outOfMemory: return kCVReturnAllocationFailed
        default: return kCVReturnInvalidSize
        }
    } catch {
        return kCVReturnError
    }
}

/// Makes a buffer of the caller's bytes, not copied; `releaseCallback` says when they are no longer needed. One plane only.
@discardableResult
public func CVPixelBufferCreateWithBytes(
    _ allocator: CFAllocator?, _ width: Int, _ height: Int, _ pixelFormatType: OSType, _ baseAddress: UnsafeMutableRawPointer,
    _ bytesPerRow: Int, _ releaseCallback: CVPixelBufferReleaseBytesCallback?, _ releaseRefCon: UnsafeMutableRawPointer?,
    _ pixelBufferAttributes: CFDictionary?, _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
    guard let layout = PixelLayout(pixelFormatType), !layout.isBiplanar else { return kCVReturnInvalidPixelFormat }
    guard (try? PixelView.minimumBytesPerRow(format: .gray8, width: width, height: height)) != nil else { return kCVReturnInvalidSize }
    let (total, overflow) = bytesPerRow.multipliedReportingOverflow(by: height)
    guard bytesPerRow >= width * layout.bytesPerPixel, !overflow else { return kCVReturnInvalidArgument }
    pixelBufferOut.pointee = CVPixelBuffer(
        width: width, height: height, pixelFormatType: pixelFormatType, isPlanar: false,
        planes: [.init(base: baseAddress, width: width, height: height, bytesPerRow: bytesPerRow)], byteCount: total
    ) { releaseCallback?(releaseRefCon, UnsafeRawPointer(baseAddress)) }
    return kCVReturnSuccess
}

/// Makes a buffer of the caller's planes, not copied. Formats: 420f and 420v with two planes.
@discardableResult
public func CVPixelBufferCreateWithPlanarBytes(
    _ allocator: CFAllocator?, _ width: Int, _ height: Int, _ pixelFormatType: OSType, _ dataPtr: UnsafeMutableRawPointer?,
    _ dataSize: Int, _ numberOfPlanes: Int, _ planeBaseAddress: UnsafeMutablePointer<UnsafeMutableRawPointer?>,
    _ planeWidth: UnsafeMutablePointer<Int>, _ planeHeight: UnsafeMutablePointer<Int>, _ planeBytesPerRow: UnsafeMutablePointer<Int>,
    _ releaseCallback: CVPixelBufferReleasePlanarBytesCallback?, _ releaseRefCon: UnsafeMutableRawPointer?,
    _ pixelBufferAttributes: CFDictionary?, _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
    guard let layout = PixelLayout(pixelFormatType), layout.isBiplanar else { return kCVReturnInvalidPixelFormat }
    guard (try? PixelView.minimumBytesPerRow(format: .gray8, width: width, height: height)) != nil else { return kCVReturnInvalidSize }
    guard numberOfPlanes == 2 else { return kCVReturnInvalidArgument }
    let wanted = [(width, height, 1), ((width + 1) / 2, (height + 1) / 2, 2)]
    var planes: [CVPixelBuffer.Plane] = []
    var total = 0
    for index in 0..<2 {
        let (columns, rows, bytes) = wanted[index]
        guard let base = planeBaseAddress[index] else { return kCVReturnInvalidArgument }
        guard planeWidth[index] >= columns, planeHeight[index] >= rows, planeBytesPerRow[index] >= columns * bytes else {
            return kCVReturnInvalidArgument
        }
        let (count, overflow) = planeBytesPerRow[index].multipliedReportingOverflow(by: rows)
        let (sum, overflowed) = total.addingReportingOverflow(count)
        guard !overflow, !overflowed else { return kCVReturnInvalidArgument }
        total = sum
        planes.append(.init(base: base, width: columns, height: rows, bytesPerRow: planeBytesPerRow[index]))
    }
    let bases = planes.map(\.base)
    pixelBufferOut.pointee = CVPixelBuffer(
        width: width, height: height, pixelFormatType: pixelFormatType, isPlanar: true, planes: planes, byteCount: total
    ) {
        var addresses: [UnsafeRawPointer?] = bases.map { UnsafeRawPointer($0) }
        addresses.withUnsafeMutableBufferPointer { releaseCallback?(releaseRefCon, UnsafeRawPointer(dataPtr), dataSize, 2, $0.baseAddress) }
    }
    return kCVReturnSuccess
}
