// swift-tools-version: 5.9
import PackageDescription

let package = Package(
    name: "MoodTracker",
    dependencies: [.package(name: "needletail", path: "../..")],
    targets: [
        .executableTarget(name: "MoodTracker", dependencies: [.product(name: "Vision", package: "needletail")])
    ]
)
