// swift-tools-version: 6.0
import PackageDescription

// Every target depends only on targets of the floors below it; siblings on one floor are blind to each other.
// The folder of a target is its name under Sources/, but for the kernels (Kernels/) and the benchmark (Benchmarks/).

let floor0: [Target] = [
    .target(name: "CNTPlatform"),
    .target(name: "NTFiles"),
    .target(
        name: "CNTKernelSources", path: "Kernels/OpenCL", exclude: [], sources: ["sources.c"],
        publicHeadersPath: "include"),
    .systemLibrary(
        name: "COpenCLHeaders", pkgConfig: "OpenCL-Headers", providers: [.apt(["ocl-icd-opencl-dev", "opencl-headers"])]),
    .systemLibrary(name: "COpenBLAS", pkgConfig: "openblas", providers: [.apt(["libopenblas-dev"])]),
    .systemLibrary(name: "CJPEG", pkgConfig: "libjpeg", providers: [.apt(["libjpeg-dev"])]),
    .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
]

let floor1: [Target] = [
    .target(name: "COpenCL", dependencies: ["COpenCLHeaders"]),
    .target(name: "NTTensor", dependencies: ["CNTPlatform", "NTFiles"]),
    .target(name: "CNTCodecs", dependencies: ["CJPEG", "CPNG"]),
    .target(
        name: "CNTKernels", dependencies: ["CNTPlatform"], path: "Kernels/CPU", publicHeadersPath: "include"),
]

let floor2: [Target] = [
    .target(name: "NTGraph", dependencies: ["NTTensor"])
]

let floor3: [Target] = [
    .target(name: "NTRuntime", dependencies: ["CNTPlatform", "NTTensor", "NTGraph"])
]

let floor4: [Target] = [
    .target(name: "NTFormats", dependencies: ["NTFiles", "NTTensor", "NTGraph"]),
    .target(name: "NTCPU", dependencies: ["CNTPlatform", "CNTKernels", "NTTensor", "NTGraph", "NTRuntime"]),
    .target(
        name: "NTOpenCL",
        dependencies: ["CNTPlatform", "CNTKernelSources", "COpenCL", "NTFiles", "NTTensor", "NTGraph", "NTRuntime"]),
    .target(
        name: "NTImage",
        dependencies: ["CNTPlatform", "CNTKernels", "CNTCodecs", "CWebP", "NTFiles"]),
]

let floor5: [Target] = [
    .target(
        name: "Needletail",
        dependencies: ["NTFiles", "NTTensor", "NTGraph", "NTRuntime", "NTFormats", "NTCPU", "NTOpenCL", "NTImage"])
]

let floor6: [Target] = [
    .target(name: "CNTAppleTypes"),
    .target(name: "CoreGraphics", dependencies: ["NTFiles", "NTImage"]),
    .target(name: "CoreVideo", dependencies: ["CNTPlatform", "CoreGraphics", "NTImage"]),
    .target(name: "CoreMedia", dependencies: ["CoreVideo"]),
    .target(name: "ImageIO", dependencies: ["CNTAppleTypes", "CoreGraphics", "NTFiles", "NTImage"]),
    .target(name: "CoreImage", dependencies: ["CoreGraphics", "CoreVideo", "ImageIO", "NTImage"]),
    .target(name: "UIKit", dependencies: ["CoreGraphics", "CoreImage", "ImageIO", "NTImage"]),
    .target(
        name: "CoreML",
        dependencies: ["Needletail", "NTTensor", "CoreGraphics", "CoreVideo", "CoreMedia", "ImageIO", "CoreImage"]),
    .target(
        name: "Vision",
        dependencies: [
            "CoreML", "Needletail", "NTImage", "CoreGraphics", "CoreVideo", "CoreMedia", "ImageIO", "CoreImage",
        ]),
]

let floor7: [Target] = [
    .executableTarget(name: "needletail", dependencies: ["Needletail", "NTFiles"], path: "Sources/needletail-cli"),
    .executableTarget(
        name: "needletail-bench",
        dependencies: [
            "Needletail", "NTCPU", "NTRuntime", "NTGraph", "NTTensor", "CNTKernels", "CNTPlatform", "COpenBLAS",
        ],
        path: "Benchmarks/needletail-bench"),
]

/// Tests read `Tests/Fixtures` and `Models` by path from the sources' own place; nothing is copied into bundles.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies + ["TestSupport"], path: "Tests/\(name)")
}

let tests: [Target] = [
    .target(
        name: "TestSupport", dependencies: ["NTTensor", "NTGraph", "NTRuntime", "CNTPlatform"], path: "Tests/TestSupport"),
    .target(name: "CNTMemoryPoison", path: "Tests/MemoryPoison"),
    .target(name: "CNTCallCounter", path: "Tests/CallCounter"),
    .target(name: "CNTGraphicsStandIn", path: "Tests/GraphicsStandIn"),
    // Run by a test as a program of its own: the counter replaces the allocator of whatever it is linked with.
    .executableTarget(
        name: "inference-counts", dependencies: ["CNTCallCounter", "Needletail", "NTImage", "NTRuntime"], path: "Tests/InferenceCounts"),
    tests("CNTKernelsTests", ["CNTKernels", "CNTPlatform", "CNTMemoryPoison"]),
    tests("NTFilesTests", ["NTFiles"]),
    tests("NTTensorTests", ["NTTensor"]),
    tests("NTGraphTests", ["NTGraph", "NTRuntime", "NTTensor"]),
    tests("NTRuntimeTests", ["NTRuntime", "NTGraph", "NTTensor", "CNTPlatform"]),
    tests("NTFormatsTests", ["NTFormats", "NTRuntime", "NTGraph", "NTTensor"]),
    tests("NTCPUTests", ["NTCPU", "CNTKernels", "NTRuntime", "NTGraph", "NTTensor"]),
    tests("NTOpenCLTests", ["NTOpenCL", "COpenCL", "CNTGraphicsStandIn", "NTRuntime", "NTGraph", "NTTensor"]),
    tests("NTImageTests", ["NTImage", "CNTCodecs", "CNTKernels", "CNTPlatform"]),
    tests("NeedletailTests", ["Needletail", "NTCPU", "NTFormats", "NTImage", "NTOpenCL", "NTRuntime", "NTGraph", "NTTensor", "CNTPlatform"]),
    tests("CompanionTests", ["CoreGraphics", "CoreVideo", "CoreMedia", "CoreImage", "ImageIO", "UIKit", "NTImage"]),
    tests("CoreMLTests", ["CoreML", "CoreVideo", "CoreGraphics"]),
    tests("VisionTests", ["Vision", "CoreML", "CoreVideo", "CoreGraphics", "ImageIO", "CoreImage"]),
    tests("CommandLineTests", ["needletail", "NTTensor"]),
]

/// `NEEDLETAIL_TESTS=CNTKernelsTests,NTCPUTests` in the environment leaves the other test modules out; `Scripts/sanitize` builds few of them.
let wantedTests = Context.environment["NEEDLETAIL_TESTS"].map { Set($0.split(separator: ",").map(String.init)) }
if let unknown = wantedTests?.first(where: { name in !tests.contains { $0.type == .test && $0.name == name } }) {
    fatalError("NEEDLETAIL_TESTS: expected test modules of this package, apart by commas, found '\(unknown)'")
}
let chosenTests = tests.filter { $0.type != .test || wantedTests?.contains($0.name) ?? true }

let package = Package(
    name: "needletail",
    products: [
        .library(name: "Needletail", targets: ["Needletail"]),
        .library(
            name: "Vision",
            targets: [
                "Vision", "CoreML", "CoreImage", "ImageIO", "CoreMedia", "CoreVideo", "CoreGraphics", "UIKit",
            ]),
        .executable(name: "needletail", targets: ["needletail"]),
        .executable(name: "needletail-bench", targets: ["needletail-bench"]),
    ],
    targets: floor0 + floor1 + floor2 + floor3 + floor4 + floor5 + floor6 + floor7 + chosenTests,
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu2x
)
