import Foundation
import NTFiles
import NTTensor

/// A class label: text or a number, as the model's file says.
public enum ClassLabel: Sendable, Hashable, CustomStringConvertible {
    case string(String)
    case int64(Int64)

    /// The label as text.
    public var description: String {
        switch self {
        case .string(let text): text
        case .int64(let number): String(number)
        }
    }
}

/// A value that a model takes or gives.
public enum FeatureValue: Sendable {
    case tensor(Tensor)
    case string(String)
    case int64(Int64)
    case double(Double)
    /// Probabilities by label, in the order of the model's labels. A label that stands twice in the model's list stands twice here.
    case probabilities([(label: ClassLabel, probability: Float)])

    /// The tensor inside, or nil.
    public var tensor: Tensor? { if case .tensor(let tensor) = self { tensor } else { nil } }

    /// Probabilities by label's text. Of labels that stand twice, the larger probability is kept.
    public var dictionary: [String: Double]? {
        guard case .probabilities(let list) = self else { return nil }
        return Dictionary(list.map { ($0.label.description, Double($0.probability)) }) { max($0, $1) }
    }

    /// The value as `JSONSerialization` takes it. Numbers that JSON cannot say (NaN, infinity) become null.
    package var jsonObject: Any {
        func number(_ value: Double) -> Any { value.isFinite ? value : NSNull() }
        switch self {
        case .tensor(let tensor): return tensor.elements.map { number(Double($0)) }
        case .string(let text): return text
        case .int64(let value): return value
        case .double(let value): return number(value)
        case .probabilities: return (dictionary ?? [:]).mapValues(number)
        }
    }
}

extension Tensor {
    /// Reads a NumPy `.npy` file, or a pipe that brings one until its writer closes it; elements of any number type become float32. Throws `NeedletailError`
    /// naming the path.
    public init(npy url: URL) throws {
        do {
            self = try Tensor(try NPY.read(contentsOf: url))
        } catch let error as FileError {
            throw NeedletailError(.invalidInput, error.description)
        } catch {
            throw NeedletailError(.invalidInput, "\(url.path): \(error)")
        }
    }

    /// The tensor as the bytes of a NumPy `.npy` file, float32, C order.
    public func npyData() throws -> Data { try NeedletailError.wrapping(.executionFailed) { try NPY.encode(storage) } }
}

extension Tensor {
    /// A tensor of zeros. An extent below 0 counts as 0. Throws when the tensor is too large.
    public static func zeros(shape: [Int]) throws -> Tensor {
        let extents = shape.map { max(0, $0) }
        let count = try NeedletailError.wrapping(.invalidInput) { try Shape(checking: extents).count }
        return try Tensor(shape: extents, elements: [Float](repeating: 0, count: count))
    }
}

extension FeatureValue {
    /// The string or the number as text; nil for tensors and probabilities.
    public var text: String? {
        switch self {
        case .string(let text): text
        case .int64(let number): String(number)
        case .double(let number): String(number)
        default: nil
        }
    }
}
