import Foundation
import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import XCTest

/// Sums that the items of a group share, by every means that a device has and in groups of every size: reductions, softmax, normalisations, pools, dense layers.
final class SubgroupTests: XCTestCase {
    /// A device's kernels for many cores, by a means or in local memory alone, with groups of at most `items`.
    private func backend(
        _ device: OpenCLDevice, _ means: Subgroups?, items: Int? = nil, tuning: TuningTable = TuningTable(), api: OpenCLInterface = .system
    ) throws -> OpenCLBackend {
        let backend = try OpenCLBackend(
            device: device, family: .manyCores, api: api, cache: api === OpenCLInterface.system ? DeviceFixture.cache : nil, tuning: tuning)
        var style = backend.style
        style.use(means, of: device)
        if let items { style.maximumWorkGroupSize = min(items, style.maximumWorkGroupSize) }
        return backend.with(tuning: tuning, style: style)
    }

    /// Every device as it is, with each of its means and with none.
    private func each(_ body: (OpenCLDevice, Subgroups?) throws -> Void) throws {
        let devices = OpenCLBackend.devices().devices
        XCTAssertFalse(devices.isEmpty)
        for device in devices {
            for means in [nil] + Subgroups.all(of: device).map(Optional.some) { try body(device, means) }
        }
    }

    private func check(_ cases: [DeviceCase], items: [Int?] = [nil], file: StaticString = #filePath, line: UInt = #line) throws {
        let expected = try cases.map { try ReferenceBackend.evaluate($0.graph, inputs: $0.inputs) }
        try each { device, means in
            for items in items {
                let backend = try backend(device, means, items: items)
                for (item, expected) in zip(cases, expected) {
                    for (a, b) in zip(try compute(item.graph, on: backend, inputs: item.inputs), expected) {
                        let place = "\(item.name) by \(means?.rawValue ?? "local memory") in groups of \(items ?? 0) on \(device.name)"
                        assertEqual(a, b, tolerance: item.tolerance, place, file: file, line: line)
                    }
                }
            }
        }
    }

    func testMeansFollowTheDevice() throws {
        for (name, means) in [("sm_70", Subgroups.ptx), ("sm_90", .ptx), ("gfx90a", .plain), ("gfx1100", .plain)] {
            let device = try XCTUnwrap(try DeviceFixture.standIns(name).first)
            XCTAssertEqual(Subgroups.all(of: device), [means])
            XCTAssertEqual(device.languageVersion, means == .ptx ? 30 : 20)
            let backend = try OpenCLBackend(device: device, cache: nil)
            XCTAssertEqual(backend.style.subgroups, means)
            XCTAssertTrue(backend.deviceDescription.hasSuffix("sums in sub-groups"), backend.deviceDescription)
            let off = try OpenCLBackend(
                device: device, cache: nil, features: try DeviceFeatures(for: device, environment: ["NEEDLETAIL_OPENCL": "subgroups=off"]))
            XCTAssertNil(off.style.subgroups)
            XCTAssertFalse(off.deviceDescription.contains("sub-groups"))
        }
        for device in OpenCLBackend.devices().devices where device.kind == .cpu {
            // Sub-groups are asked for in vain on wide cores, where no items share a sum.
            let features = try DeviceFeatures(for: device, environment: ["NEEDLETAIL_OPENCL": "subgroups=on"])
            XCTAssertEqual(features.usesSubgroups, !Subgroups.all(of: device).isEmpty)
            XCTAssertFalse(try OpenCLBackend(device: device, cache: nil, features: features).features.usesSubgroups)
            XCTAssertEqual(
                try OpenCLBackend(device: device, family: .manyCores, cache: nil, features: features).style.subgroups, Subgroups.all(of: device).first
            )
            XCTAssertFalse(try DeviceFeatures(for: device, environment: [:]).usesSubgroups)
        }
    }

    /// A compiler that says it has a means gets kernels that use it, and other programs than without.
    func testProgramsUseTheMeans() throws {
        let item = try DeviceCase(Softmax(axis: 1), [[2, 300]])
        let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
        try each { device, means in
            let wish = means == nil ? "defined" : "!defined"
            let api = OpenCLInterface(sourceFilter: { $0 + "\n#if GROUP == 1 || \(wish)(EXCHANGE)\n#error sub-groups\n#endif\n" })
            let list = OpenCLDeviceList(api: api).devices
            let same = try XCTUnwrap(list.first { $0.id == device.id })
            let found = try compute(item.graph, on: try backend(same, means, api: api), inputs: item.inputs)
            assertEqual(found[0], expected[0], "\(means?.rawValue ?? "local memory") on \(device.name)")
        }
    }

    func testReductions() throws {
        var cases: [DeviceCase] = []
        for extent in [63, 64, 65, 127, 251, 255, 256, 257, 1021] {
            cases.append(try DeviceCase(Softmax(axis: 1), [[2, extent]], range: -8...8))
            cases.append(try DeviceCase(Reduce(.sum, axes: [1]), [[3, extent, 2]]))
        }
        try check(cases, items: [nil, 32, 37, 100])
        cases = try Reduce.Function.allCases.map { try DeviceCase(Reduce($0, axes: [0, 2], epsilon: 0.1), [[11, 2, 7]], range: 0.8...1.2) }
        cases.append(try DeviceCase(Softmax(axis: 0, isLog: true), [[300, 2]], range: -8...8))
        cases.append(try DeviceCase(MeanVarianceNormalization(axes: [2, 3], epsilon: 1e-3), [[1, 3, 9, 8]], range: -1...3))
        cases.append(try DeviceCase(L2Normalization(axes: [1], epsilon: 1e-6), [[2, 131]]))
        try check(cases)
    }

    func testChoiceOfOne() throws {
        var cases: [DeviceCase] = []
        for extent in [1, 2, 64, 65, 257, 509] {
            for flag in [false, true] { cases.append(try DeviceCase(ArgReduce(isMinimum: flag, axis: 1), [[3, extent, 2]])) }
        }
        func lane(_ values: [Float], _ isMinimum: Bool) throws {
            var item = try DeviceCase(ArgReduce(isMinimum: isMinimum, axis: 0), [Shape([values.count])])
            item.inputs = [try Tensor(Shape([values.count]), values)]
            cases.append(item)
        }
        for flag in [false, true] {
            // Equals far apart, infinities alone, NaN first and in other places.
            try lane((0..<301).map { $0 % 100 == 77 ? (flag ? -2 : 2) : 0 }, flag)
            try lane([Float](repeating: flag ? .infinity : -.infinity, count: 130), flag)
            try lane([.nan] + [Float](repeating: 1, count: 99), flag)
            try lane((0..<200).map { $0 == 0 ? 0 : $0 == 150 ? (flag ? -1 : 1) : .nan }, flag)
        }
        try check(cases, items: [nil, 37])
    }

    func testWindows() throws {
        var cases: [DeviceCase] = []
        for function in [Pool.Function.maximum, .average, .l2] {
            for (channels, height, width) in [(1, 7, 7), (5, 8, 8), (40, 7, 7), (4, 13, 5), (8, 1, 32), (3, 1, 31), (4, 17, 19)] {
                cases.append(try DeviceCase(Pool(function, kernel: Size2D(height, width)), [[2, channels, height, width]]))
            }
            for countsPadding in [false, true] {
                let padding = Padding2D(top: 2, left: 1, bottom: 3, right: 2)
                cases.append(
                    try DeviceCase(
                        Pool(function, kernel: Size2D(7, 6), strides: Size2D(2, 3), padding: padding, countsPadding: countsPadding), [[1, 4, 8, 7]]))
            }
        }
        for place in [0, 20, 48] {
            var values = (0..<196).map { Float($0 % 13) - 6 }
            (values[place], values[60 + place]) = (.nan, .infinity)
            var item = try DeviceCase(Pool(.maximum, kernel: Size2D(7, 7)), [[1, 4, 7, 7]])
            item.inputs = [try Tensor([1, 4, 7, 7], values)]
            cases.append(item)
        }
        try check(cases, items: [nil, 37])
    }

    /// Groups of many sizes, channels that they do not divide, every number of pixels; a residual.
    func testDenseLayers() throws {
        try each { device, means in
            for (turn, (items, columns)) in [(32, 4), (37, 2), (64, 4), (255, 1), (256, 2)].enumerated() {
                let shapes = [(1, 1, 1), (1, 1024, 5), (2, 127, 3), (3, 509, 4), (4, 258, 7), (1, 31, 9)]
                for (index, (pixels, channels, outputs)) in shapes.enumerated() where pixels * columns <= 8 && (index + turn) % 2 == 0 {
                    let tile = "{\"shared\":{\"items\":\(items),\"columns\":\(columns)}}"
                    let text = "{\"tiles\":{\"\(pixels)/\(pixels)x\(outputs)x\(channels)x1g1 float\":\(tile)}}"
                    let table = try JSONDecoder().decode(TuningTable.self, from: Data(text.utf8))
                    let backend = try backend(device, means, tuning: table)
                    let dense = try DeviceCase(
                        Dense(hasBias: true, activation: .relu), [[pixels, channels]], constants: [[outputs, channels], [outputs]])
                    let convolution = try DeviceCase("residual", [[1, channels, 1, pixels], [1, outputs, 1, pixels]]) { builder, inputs, numbers in
                        let weights = try builder.constant(try numbers.tensor([outputs, channels, 1, 1]))
                        let op = Convolution(hasResidual: true, activation: .clip(-1, 1))
                        return [try builder.add(op, inputs[0], weights, inputs[1], layer: "layer")]
                    }
                    for item in [dense, convolution] {
                        let plan = try ExecutionPlan(item.graph, backend: backend)
                        let kernels = plan.steps.flatMap(\.step.kernels)
                        XCTAssertTrue(kernels.contains("shared gemm \(pixels)x\(columns)"), "\(kernels)")
                        let found = try compute(plan, try plan.makeState(), inputs: item.inputs)
                        let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
                        assertEqual(found[0], expected[0], "\(items) items, \(item.name) by \(means?.rawValue ?? "local memory") on \(device.name)")
                    }
                }
            }
        }
    }

    /// What lies behind a row of x is no part of its sums, not even as a factor of zero.
    func testRowsEndWhereTheyEnd() throws {
        var item = try DeviceCase(Dense(), [[2, 5]], constants: [[3, 5]])
        item.inputs = [try Tensor([2, 5], [1, 2, 3, 4, 5, .nan, .infinity, 1, 1, 1])]
        try check([item])
    }

    /// Sums of whole numbers are exact in any order, and what is rounded is rounded alike at every run and in every state.
    func testSumsAreTheSameAtEveryRun() throws {
        let graph = try DeviceCase("sums", [[1, 12, 9, 7]]) { builder, inputs, numbers in
            let pooled = try builder.add(Pool(.average, kernel: Size2D(9, 7)), inputs[0], layer: "pool")
            let flat = try builder.add(Reshape([1, 12]), pooled, layer: "flat")
            let dense = try builder.add(Dense(), flat, try builder.constant(try numbers.tensor([333, 12])), layer: "dense")
            let sum = try builder.add(Reduce(.sum, axes: [1]), dense, layer: "sum")
            return [pooled, try builder.add(Softmax(axis: 1), dense, layer: "softmax"), sum]
        }
        var whole = try DeviceCase("whole", [[1, 700]]) { builder, inputs, numbers in
            let weights = try numbers.tensor([9, 700], -3, 3).floatArray().map { $0.rounded() }
            let dense = try builder.add(Dense(), inputs[0], try builder.constant(try Tensor([9, 700], weights)), layer: "dense")
            return [dense, try builder.add(Reduce(.sum, axes: [1]), inputs[0], layer: "sum")]
        }
        whole.inputs = [try Tensor([1, 700], whole.inputs[0].floatArray().map { ($0 * 8).rounded() })]
        let exact = try ReferenceBackend.evaluate(whole.graph, inputs: whole.inputs)
        try each { device, means in
            let backend = try backend(device, means)
            for (a, b) in zip(try compute(whole.graph, on: backend, inputs: whole.inputs), exact) { XCTAssertEqual(a.floatArray(), b.floatArray()) }
            var known: [[UInt32]]?
            for _ in 0..<3 {
                let plan = try ExecutionPlan(graph.graph, backend: backend)
                for _ in 0..<2 {
                    let state = try plan.makeState()
                    for _ in 0..<3 {
                        let bits = try compute(plan, state, inputs: graph.inputs).map { $0.floatArray().map(\.bitPattern) }
                        XCTAssertEqual(bits, known ?? bits, "\(means?.rawValue ?? "local memory") on \(device.name)")
                        known = bits
                    }
                }
            }
        }
    }

    /// Halves, on devices that describe themselves as graphics processors.
    func testHalves() throws {
        for name in ["sm_90", "gfx90a"] {
            for device in try DeviceFixture.standIns(name) where device.platformName != "Oclgrind" {
                let item = try DeviceCase("halves", [[1, 24, 7, 7]]) { builder, inputs, numbers in
                    let weights = try builder.constant(try numbers.tensor([40, 24, 1, 1]))
                    let x = try builder.add(Convolution(), inputs[0], weights, layer: "first")
                    let pooled = try builder.add(Pool(.average, kernel: Size2D(7, 7)), x, layer: "pool")
                    let flat = try builder.add(Reshape([1, 40]), pooled, layer: "flat")
                    let (matrix, bias) = (try builder.constant(try numbers.tensor([131, 40])), try builder.constant(try numbers.tensor([131])))
                    let dense = try builder.add(Dense(hasBias: true), flat, matrix, bias, layer: "dense")
                    return [try builder.add(Softmax(axis: 1), dense, layer: "softmax")]
                }
                let backend = try OpenCLBackend(device: device, cache: DeviceFixture.cache)
                let found = try compute(item.graph, on: backend, inputs: item.inputs, options: CompileOptions(precision: .float16))
                assertEqual(found[0], try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)[0], tolerance: 0.01, device.name)
            }
        }
    }
}
