import Foundation

/// Where committed test data lies: found from this source file's own path, so tests run from any working directory.
package enum Fixtures {
    /// The package's root folder.
    package static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    /// `Models/`: committed models and photos.
    package static let models = root.appendingPathComponent("Models")
    /// `Tests/Fixtures/`: small data made by the scripts beside it.
    package static let folder = root.appendingPathComponent("Tests/Fixtures")
}
