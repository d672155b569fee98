import CoreVideo
import Foundation
import NTTensor

/// A multidimensional array of numbers. `strides` are in elements; memory may be owned, or borrowed with a deallocator.
///
/// A reference type, as on Apple's systems: not synchronised, so do not write to an array while a prediction reads it.
public final class MLMultiArray: NSObject, @unchecked Sendable {
    public let dataType: MLMultiArrayDataType
    public let shape: [NSNumber]
    public let strides: [NSNumber]
    /// The number of elements.
    public let count: Int
    /// The first element. Prefer `withUnsafeBytes`.
    public let dataPointer: UnsafeMutableRawPointer
    let extents: [Int]
    let elementStrides: [Int]
    private let release: () -> Void

    private init(
        memory: UnsafeMutableRawPointer, extents: [Int], dataType: MLMultiArrayDataType, elementStrides: [Int],
        release: @escaping () -> Void
    ) {
        self.dataType = dataType
        self.extents = extents
        self.elementStrides = elementStrides
        shape = extents.map { NSNumber(value: $0) }
        strides = elementStrides.map { NSNumber(value: $0) }
        count = extents.reduce(1, *)
        dataPointer = memory
        self.release = release
    }

    deinit { release() }

    /// An array of zeros. Throws when an extent is negative or the array is too large.
    public convenience init(shape: [NSNumber], dataType: MLMultiArrayDataType) throws {
        let extents = try MLMultiArray.checked(shape)
        let byteCount = max(1, extents.reduce(1, *)) * dataType.byteCount
        let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        self.init(
            memory: memory, extents: extents, dataType: dataType, elementStrides: Shape(extents).strides,
            release: { memory.deallocate() })
    }

    /// An array over memory that the caller provides; `deallocator` is called with `dataPointer` when the array goes away.
    /// The memory must hold every element that shape and strides reach.
    public convenience init(
        dataPointer: UnsafeMutableRawPointer, shape: [NSNumber], dataType: MLMultiArrayDataType, strides: [NSNumber],
        deallocator: ((UnsafeMutableRawPointer) -> Void)? = nil
    ) throws {
        let extents = try MLMultiArray.checked(shape)
        let steps = strides.map(\.intValue)
        guard steps.count == extents.count, steps.allSatisfy({ $0 >= 0 }) else {
            throw MLModelError(.generic, "expected \(extents.count) strides of 0 or more, found \(steps)")
        }
        self.init(
            memory: dataPointer, extents: extents, dataType: dataType, elementStrides: steps,
            release: { deallocator?(dataPointer) })
    }

    /// The arrays one after another along `axis`, converted to `dataType`.
    public convenience init(concatenating arrays: [MLMultiArray], axis: Int, dataType: MLMultiArrayDataType) throws {
        guard let first = arrays.first else { throw MLModelError(.generic, "nothing to concatenate") }
        let rank = first.extents.count
        let along = axis < 0 ? axis + rank : axis
        guard (0..<rank).contains(along) else { throw MLModelError(.generic, "axis \(axis) lies outside rank \(rank)") }
        var extents = first.extents
        extents[along] = 0
        for array in arrays {
            var other = array.extents
            guard other.count == rank else { throw MLModelError(.generic, "the arrays' ranks differ") }
            let extent = other[along]
            other[along] = extents[along]
            guard other == extents else {
                throw MLModelError(.generic, "shapes \(first.extents) and \(array.extents) differ outside axis \(axis)")
            }
            extents[along] += extent
        }
        try self.init(shape: extents.map { NSNumber(value: $0) }, dataType: dataType)
        var start = 0
        for array in arrays {
            array.forEachOffset { index, offset in
                var target = index
                target[along] += start
                self.store(array.value(at: offset), at: self.offset(of: target))
            }
            start += array.extents[along]
        }
    }

    /// An array of the given numbers, rank 1.
    public convenience init<Numbers: Collection>(_ values: Numbers) throws where Numbers.Element: BinaryFloatingPoint {
        try self.init(shape: [NSNumber(value: values.count)], dataType: .double)
        for (index, value) in values.enumerated() { store(Double(value), at: index) }
    }

    // MARK: - Elements

    /// The element at a linear index in row-major order. The index must be in range, as for an array.
    public subscript(index: Int) -> NSNumber {
        get { NSNumber(value: value(at: offset(ofLinear: index))) }
        set { store(newValue.doubleValue, at: offset(ofLinear: index)) }
    }

    /// The element at a multidimensional index. Each part must be in range, as for an array.
    public subscript(key: [NSNumber]) -> NSNumber {
        get { NSNumber(value: value(at: offset(of: key.map(\.intValue)))) }
        set { store(newValue.doubleValue, at: offset(of: key.map(\.intValue))) }
    }

    /// Calls `body` with the array's bytes, from the first element to the last that strides reach.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: dataPointer, count: reachedByteCount))
    }

    /// Calls `body` with the array's bytes for writing, and its strides.
    public func withUnsafeMutableBytes<Result>(
        _ body: (UnsafeMutableRawBufferPointer, [Int]) throws -> Result
    ) rethrows -> Result {
        try body(UnsafeMutableRawBufferPointer(start: dataPointer, count: reachedByteCount), elementStrides)
    }

    /// Calls `body` with the elements as `type`, which must have the size of `dataType`.
    public func withUnsafeBufferPointer<Scalar, Result>(
        ofType type: Scalar.Type, _ body: (UnsafeBufferPointer<Scalar>) throws -> Result
    ) rethrows -> Result {
        precondition(MemoryLayout<Scalar>.stride == dataType.byteCount, "the scalar's size is not the array's")
        return try withUnsafeBytes { try body($0.bindMemory(to: Scalar.self)) }
    }

    /// Moves the elements into an array of the same shape and type.
    public func transfer(to destination: MLMultiArray) {
        precondition(destination.extents == extents, "the shapes differ")
        forEachOffset { index, offset in destination.store(self.value(at: offset), at: destination.offset(of: index)) }
    }

    public override var description: String {
        let names: [MLMultiArrayDataType: String] = [
            .double: "Double", .float32: "Float32", .float16: "Float16", .int32: "Int32", .int8: "Int8",
        ]
        let head = (0..<min(count, 16)).map { "\(self[$0])" }.joined(separator: ",")
        return "\(names[dataType] ?? "") \(extents.map(String.init).joined(separator: " × ")) array [\(head)\(count > 16 ? ",…" : "")]"
    }

    // MARK: - Conversion

    /// The elements as a contiguous float32 tensor.
    func tensor() throws -> NTTensor.Tensor {
        try NTTensor.Tensor(float32: Shape(extents)) { target in
            if dataType == .float32, elementStrides == Shape(extents).strides, let base = target.baseAddress {
                base.update(from: dataPointer.assumingMemoryBound(to: Float.self), count: count)
                return
            }
            var place = 0
            forEachOffset { _, offset in
                target[place] = Float(value(at: offset))
                place += 1
            }
        }
    }

    /// A contiguous array of a tensor's elements, as `dataType`.
    convenience init(_ tensor: NTTensor.Tensor, shape: [Int], dataType: MLMultiArrayDataType) throws {
        try self.init(shape: shape.map { NSNumber(value: $0) }, dataType: dataType)
        guard count == tensor.count else {
            throw MLModelError(.generic, "expected \(count) elements of shape \(shape), found \(tensor.count)")
        }
        withExtendedLifetime(tensor) {
            let source = tensor.floats
            if dataType == .float32, let base = source.baseAddress {
                dataPointer.assumingMemoryBound(to: Float.self).update(from: base, count: count)
            } else {
                for index in 0..<count { store(Double(source[index]), at: index) }
            }
        }
    }

    func value(at offset: Int) -> Double {
        switch dataType {
        case .double: dataPointer.load(fromByteOffset: offset * 8, as: Double.self)
        case .float32: Double(dataPointer.load(fromByteOffset: offset * 4, as: Float.self))
        case .float16: Double(HalfPrecision.float(fromHalf: dataPointer.load(fromByteOffset: offset * 2, as: UInt16.self)))
        case .int32: Double(dataPointer.load(fromByteOffset: offset * 4, as: Int32.self))
        case .int8: Double(dataPointer.load(fromByteOffset: offset, as: Int8.self))
        }
    }

    /// Stores a number; integers are rounded toward zero and clamped to their type's range, NaN becomes 0.
    func store(_ value: Double, at offset: Int) {
        func whole<Integer: FixedWidthInteger>(_: Integer.Type) -> Integer {
            value.isNaN ? 0 : Integer(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
        }
        switch dataType {
        case .double: dataPointer.storeBytes(of: value, toByteOffset: offset * 8, as: Double.self)
        case .float32: dataPointer.storeBytes(of: Float(value), toByteOffset: offset * 4, as: Float.self)
        case .float16:
            dataPointer.storeBytes(of: HalfPrecision.half(from: Float(value)), toByteOffset: offset * 2, as: UInt16.self)
        case .int32: dataPointer.storeBytes(of: whole(Int32.self), toByteOffset: offset * 4, as: Int32.self)
        case .int8: dataPointer.storeBytes(of: whole(Int8.self), toByteOffset: offset, as: Int8.self)
        }
    }

    private static func checked(_ shape: [NSNumber]) throws -> [Int] {
        do { return try Shape(checking: shape.map(\.intValue)).dims } catch {
            throw MLModelError(.generic, error.description)
        }
    }

    private func offset(ofLinear index: Int) -> Int {
        precondition((0..<count).contains(index), "index \(index) lies outside 0..<\(count)")
        var (rest, offset) = (index, 0)
        for axis in extents.indices.reversed() {
            offset += rest % extents[axis] * elementStrides[axis]
            rest /= extents[axis]
        }
        return offset
    }

    private func offset(of index: [Int]) -> Int {
        precondition(
            index.count == extents.count && zip(index, extents).allSatisfy { (0..<$1).contains($0) },
            "index \(index) lies outside shape \(extents)")
        return zip(index, elementStrides).reduce(0) { $0 + $1.0 * $1.1 }
    }

    private func forEachOffset(_ body: ([Int], Int) -> Void) {
        guard count > 0 else { return }
        var index = [Int](repeating: 0, count: extents.count)
        for _ in 0..<count {
            body(index, zip(index, elementStrides).reduce(0) { $0 + $1.0 * $1.1 })
            for axis in extents.indices.reversed() {
                index[axis] += 1
                if index[axis] < extents[axis] { break }
                index[axis] = 0
            }
        }
    }

    private var reachedByteCount: Int {
        if count == 0 { return 0 }
        return (zip(extents, elementStrides).reduce(0) { $0 + ($1.0 - 1) * $1.1 } + 1) * dataType.byteCount
    }
}
