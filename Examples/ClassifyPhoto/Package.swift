// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "ClassifyPhoto",
    dependencies: [.package(name: "needletail", path: "../..")],
    targets: [
        .executableTarget(name: "ClassifyPhoto", dependencies: [.product(name: "Needletail", package: "needletail")])
    ]
)
