extension ModelDescription.Feature {
    /// The kind in words: `image 224 x 224 rgb`.
    public var kindText: String {
        switch kind {
        case .image(let width, let height, let color, let flexibility):
            "image \(width) x \(height) \(color.rawValue)\(flexibility.text)"
        case .multiArray(let shape, let elementType, let flexibility):
            "\(elementType) array \(shape.isEmpty ? "of any shape" : shape.map(String.init).joined(separator: " x "))\(flexibility.text)"
        case .double: "double"
        case .int64: "int64"
        case .string: "string"
        case .dictionary(let keysAreIntegers): "dictionary of double by \(keysAreIntegers ? "int64" : "string")"
        case .sequence(let ofIntegers): "sequence of \(ofIntegers ? "int64" : "string")"
        case .state: "state"
        case .unknown: "unknown"
        }
    }

    /// The kind as values for JSON.
    public var kindObject: [String: Any] {
        switch kind {
        case .image(let width, let height, let color, let flexibility):
            ["type": "image", "width": width, "height": height, "colorSpace": color.rawValue, "flexibility": flexibility.text]
        case .multiArray(let shape, let elementType, let flexibility):
            ["type": "multiArray", "shape": shape, "elementType": elementType, "flexibility": flexibility.text]
        case .double: ["type": "double"]
        case .int64: ["type": "int64"]
        case .string: ["type": "string"]
        case .dictionary(let keysAreIntegers): ["type": "dictionary", "keyType": keysAreIntegers ? "int64" : "string"]
        case .sequence(let ofIntegers): ["type": "sequence", "elementType": ofIntegers ? "int64" : "string"]
        case .state: ["type": "state"]
        case .unknown: ["type": "unknown"]
        }
    }
}

extension ModelDescription.Flexibility {
    var text: String {
        switch self {
        case .fixed: return ""
        case .enumerated(let sizes):
            let list = sizes.prefix(16).map { $0.map(String.init).joined(separator: " x ") }
            return ", or one of " + list.joined(separator: ", ") + (sizes.count > 16 ? ", …" : "")
        case .range(let bounds):
            return ", or " + bounds.map { "\($0.lower)-\($0.upper.map(String.init) ?? "any")" }.joined(separator: " x ")
        }
    }
}
