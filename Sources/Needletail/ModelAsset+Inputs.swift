import NTFormats
import NTGraph

extension ModelAsset {
    /// Whether an input may be left out.
    func isOptional(input name: String) -> Bool {
        description.inputs.first { $0.name == name }?.type.isOptional ?? false
    }

    /// What an optional input is filled with when it is left out.
    func defaultValue(input name: String) -> Float {
        guard case .multiArray(let array) = description.inputs.first(where: { $0.name == name })?.type.kind else { return 0 }
        return Float(array.defaultValue ?? 0)
    }

    /// The shape to build a graph for when an input is given as `shape`; nil for the file's default shape.
    ///
    /// An image is given as (1, C, H, W) or (C, H, W). Throws `NeedletailError` naming the input, the expected and the found shape.
    func planShape(input name: String, given shape: [Int]) throws -> [Int]? {
        let label = path.map { "\($0): " } ?? ""
        guard let feature = description.inputs.first(where: { $0.name == name }) else {
            let known = description.inputs.map(\.name).joined(separator: ", ")
            throw NeedletailError(.invalidInput, "\(label)there is no input '\(name)'; the inputs are \(known)")
        }
        func refused() -> NeedletailError {
            NeedletailError(.invalidInput, "\(label)input '\(name)': expected \(feature.type.text), found shape \(shape)")
        }
        switch feature.type.kind {
        case .image(let image):
            let extents = shape.suffix(3)
            guard shape.count == 3 || (shape.count == 4 && shape[0] == 1), extents.first == image.colorSpace.channelCount,
                let height = extents.dropFirst().first, let width = extents.last
            else { throw refused() }
            if width == image.size.width, height == image.size.height { return nil }
            guard image.allows(.init(width: width, height: height)) else { throw refused() }
            return [height, width]
        case .multiArray(let array):
            if shape == array.shape { return nil }
            if array.allows(shape) { return shape }
            // The same elements under another rank: (1, C, H, W) for (C, H, W).
            if !array.shape.isEmpty, array.shape.allSatisfy({ $0 > 0 }), shape.filter({ $0 != 1 }) == array.shape.filter({ $0 != 1 }) {
                return nil
            }
            throw refused()
        default: return nil
        }
    }
}
