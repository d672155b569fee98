import Foundation

/// Models that were spoiled on purpose.
enum BrokenModel {
    /// A model of which every weight that looks like a small positive float is NaN: a run of four bytes that ends in 0x3d.
    static func withoutNumbers(_ path: String) throws -> Data {
        var model = try Data(contentsOf: URL(fileURLWithPath: path))
        var index = model.count / 2
        var changed = 0
        while index + 3 < model.count, changed < 2000 {
            if model[index + 3] == 0x3d {
                model.replaceSubrange(index..<(index + 4), with: [0, 0, 0xc0, 0x7f])
                changed += 1
                index += 4
            } else {
                index += 1
            }
        }
        return model
    }
}
