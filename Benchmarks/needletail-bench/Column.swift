import Foundation

/// Text of fixed width.
enum Column {
    static func left(_ text: String, _ width: Int) -> String {
        text.count >= width ? text : text + String(repeating: " ", count: width - text.count)
    }

    static func number(_ value: Double, _ width: Int, _ digits: Int) -> String {
        String(format: "%\(width).\(digits)f", value)
    }
}
