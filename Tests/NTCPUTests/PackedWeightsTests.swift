import CNTKernels
import CNTPlatform
import NTCPU
import NTGraph
import NTRuntime
import NTTensor
import TestSupport
import XCTest

/// Packed weights kept in a dictionary.
private final class MemoryStore: PackedWeights, @unchecked Sendable {
    struct Key: Hashable {
        var constant: ObjectIdentifier
        var recipe: String
    }

    private(set) var entries: [Key: (buffer: TensorBuffer, byteCount: Int, constant: Tensor)] = [:]
    private(set) var hits = 0
    private(set) var misses: [String] = []
    var isRecording = true

    func stored(_ constant: Tensor, recipe: String, byteCount: Int) -> UnsafeRawPointer? {
        let entry = entries[Key(constant: ObjectIdentifier(constant.buffer), recipe: recipe)]
        guard let entry, entry.byteCount == byteCount else {
            misses.append(recipe)
            return nil
        }
        hits += 1
        return UnsafeRawPointer(entry.buffer.base)
    }

    func record(_ constant: Tensor, recipe: String, byteCount: Int, buffer: TensorBuffer) {
        guard isRecording else { return }
        entries[Key(constant: ObjectIdentifier(constant.buffer), recipe: recipe)] = (buffer, byteCount, constant)
    }

    func forgetCounts() { (hits, misses) = (0, []) }
}

final class PackedWeightsTests: XCTestCase {
    override func tearDown() {
        nt_isa_set_ceiling(~0)
        nt_isa_set_float16_model(false)
        nt_isa_set_amx_model(false)
    }

    private func bits(
        _ graph: Graph, _ inputs: [Tensor], _ backend: CPUBackend, _ store: MemoryStore?, _ precision: Precision = .float32
    ) throws -> [[UInt32]] {
        let plan = try ExecutionPlan(graph, backend: backend, options: CompileOptions(precision: precision, packedWeights: store))
        let targets = try graph.outputs.map { try TensorBuffer(byteCount: graph[$0].type.byteCount) }
        try plan.run(
            plan.makeState(), inputs: inputs.map(\.bytes),
            outputs: targets.map { UnsafeMutableRawBufferPointer(start: $0.base, count: $0.byteCount) })
        return withExtendedLifetime((targets, inputs)) {
            targets.map { Array(UnsafeRawBufferPointer(start: $0.base, count: $0.byteCount).bindMemory(to: UInt32.self)) }
        }
    }

    private func networks() throws -> [(name: String, graph: Graph, inputs: [Tensor])] {
        try OperatorCases.all.map { test in
            let (graph, inputs) = try test.make()
            return (test.name, graph, inputs)
        }
            + (0..<60).map { seed in
                let (graph, inputs) = try RandomGraph.make(seed: seed)
                return ("random graph \(seed)", try Passes.optimize(graph), inputs)
            }
    }

    /// A plan over recorded weights gives the bits of one that packs, and asks for nothing that was not recorded, on any number of threads.
    func testRecordedWeightsGiveTheSameBits() throws {
        nt_isa_set_float16_model(true)
        var total = 0
        for (name, graph, inputs) in try networks() {
            for precision in [Precision.float32, .bfloat16, .float16] {
                let store = MemoryStore()
                let expected = try bits(graph, inputs, CPUBackend(threadCount: 1), store, precision)
                total += store.entries.count
                store.isRecording = false
                for threads in [1, 2] {
                    store.forgetCounts()
                    XCTAssertEqual(try bits(graph, inputs, CPUBackend(threadCount: threads), store, precision), expected, name)
                    XCTAssertEqual(store.misses, [], "\(name) in \(precision) on \(threads) threads")
                    XCTAssertGreaterThanOrEqual(store.hits, store.entries.count, name)
                }
            }
        }
        XCTAssertGreaterThan(total, 300)
    }

    /// Weights that were packed for one precision are not taken for another, which packs its own.
    func testOtherPrecisionsPackTheirOwn() throws {
        nt_isa_set_float16_model(true)
        var random = TestRandom(name: "precisions")
        var builder = GraphBuilder(name: "precisions")
        let x = builder.input("x", .float32([1, 20, 9, 9]))
        let w = try builder.constant(try random.tensor([37, 20, 1, 1], .unit))
        try builder.output(try builder.add(Convolution(), x, w, layer: "conv"), name: "y")
        let inputs = [try random.tensor([1, 20, 9, 9], .unit)]
        let precisions = [Precision.float32, .bfloat16, .float16].filter { CPUBackend.resolved($0) == $0 }
        for recorded in precisions {
            let store = MemoryStore()
            _ = try bits(builder.graph, inputs, CPUBackend(threadCount: 1), store, recorded)
            store.isRecording = false
            for asked in precisions {
                store.forgetCounts()
                let expected = try bits(builder.graph, inputs, CPUBackend(threadCount: 1), nil, asked)
                XCTAssertEqual(try bits(builder.graph, inputs, CPUBackend(threadCount: 1), store, asked), expected)
                // bfloat16 looks for what rounding shifts as well.
                XCTAssertEqual(store.misses.count, asked == recorded ? 0 : asked == .bfloat16 ? 2 : 1, "\(asked) from \(recorded)")
            }
        }
    }

    /// What was packed for AMX's tiles is not taken by vectors, nor the other way round.
    func testTilesPackTheirOwn() throws {
        try XCTSkipUnless(CPUBackend.resolved(.bfloat16) == .bfloat16, "this processor has no AVX512-BF16")
        var random = TestRandom(name: "tiles")
        var builder = GraphBuilder(name: "tiles")
        let x = builder.input("x", .float32([1, 64, 9, 9]))
        let w = try builder.constant(try random.tensor([37, 64, 1, 1], .unit))
        try builder.output(try builder.add(Convolution(), x, w, layer: "conv"), name: "y")
        let inputs = [try random.tensor([1, 64, 9, 9], .unit)]
        for recordedOnTiles in [false, true] {
            let store = MemoryStore()
            nt_isa_set_amx_model(recordedOnTiles)
            _ = try bits(builder.graph, inputs, CPUBackend(threadCount: 1), store, .bfloat16)
            store.isRecording = false
            for onTiles in [false, true] {
                nt_isa_set_amx_model(onTiles)
                store.forgetCounts()
                let expected = try bits(builder.graph, inputs, CPUBackend(threadCount: 1), nil, .bfloat16)
                XCTAssertEqual(try bits(builder.graph, inputs, CPUBackend(threadCount: 1), store, .bfloat16), expected)
                XCTAssertEqual(store.misses.count, onTiles == recordedOnTiles || nt_isa_bits() & UInt32(NT_ISA_AMX_BF16) != 0 ? 0 : 1)
            }
        }
    }

    /// Weights that were packed for one instruction set are not taken for another, which packs its own.
    func testOtherInstructionSetsPackTheirOwn() throws {
        var random = TestRandom(name: "packed")
        var builder = GraphBuilder(name: "packed")
        let x = builder.input("x", .float32([1, 20, 9, 9]))
        let w = try builder.constant(try random.tensor([37, 20, 3, 3], .unit))
        try builder.output(try builder.add(Convolution(), x, w, layer: "conv"), name: "y")
        let inputs = [try random.tensor([1, 20, 9, 9], .unit)]
        let store = MemoryStore()
        _ = try bits(builder.graph, inputs, CPUBackend(threadCount: 1), store)
        store.isRecording = false
        for ceiling in [0, UInt32(NT_ISA_AVX2)] where nt_isa_bits() & ~ceiling != 0 {
            nt_isa_set_ceiling(ceiling)
            store.forgetCounts()
            let expected = try bits(builder.graph, inputs, CPUBackend(threadCount: 1), nil)
            XCTAssertEqual(try bits(builder.graph, inputs, CPUBackend(threadCount: 1), store), expected)
            XCTAssertEqual(store.misses.count, 1)
            nt_isa_set_ceiling(~0)
        }
    }

    /// What a recipe makes is part of compiled models, which are older than the program that reads them. These sums stand for the layouts of today:
    /// when one of them changes, the layout has changed, and its recipe must change with it.
    func testLayoutsAreThoseThatTheirRecipesName() throws {
        var sums: [String: UInt64] = [:]
        for index in 0..<nt_gemm_kernel_count() {
            guard let kernel = nt_gemm_kernel_at(index) else { return XCTFail("kernel \(index) is missing") }
            let (outputs, taps, depth) = (75, 3, 5)
            let source = (0..<(outputs * taps * depth)).map { Float($0 + 1) }
            var packed = [Float](repeating: .nan, count: nt_gemm_packed_count(kernel, outputs, taps, depth))
            nt_gemm_pack(kernel, outputs, taps, depth, source, taps * depth, 1, taps, &packed)
            sums["gemm " + String(cString: kernel.pointee.name)] = Self.sum(packed)
        }
        for index in 0..<nt_depthwise_kernel_count() {
            guard let kernel = nt_depthwise_kernel_at(index) else { return XCTFail("kernel \(index) is missing") }
            var packed = [Float](repeating: .nan, count: nt_depthwise_padded(21) * 9)
            nt_depthwise_pack(kernel, 21, 9, (0..<189).map { Float($0 + 1) }, &packed)
            sums["depthwise " + String(cString: kernel.pointee.name)] = Self.sum(packed)
        }
        for kernel in (0..<nt_gemm_kernel_count()).compactMap(nt_gemm_kernel_at) where kernel.pointee.element == NT_ELEMENT_FLOAT32 {
            let depth = 6
            var quarter = [Float](repeating: .nan, count: 38 * depth / 2)
            var packed = [Float](repeating: .nan, count: nt_strassen_packed_count(kernel, depth, 76))
            nt_strassen_pack(kernel, depth, 76, (0..<(76 * depth)).map { Float($0 % 17 * 24) }, &quarter, &packed)
            sums["strassen " + String(cString: kernel.pointee.name)] = Self.sum(packed)
        }
        for tile: Int32 in [3, 4, 5] {
            for (panel, lanes) in [(64, 16), (48, 16), (32, 16), (16, 16), (16, 8), (8, 8), (8, 4), (4, 4)] as [(Int32, Int32)] {
                var packing = nt_winograd_packing(tile: tile, panel: panel, lanes: lanes, channels: 5, outputs: 75)
                var packed = [Float](repeating: .nan, count: nt_winograd_packed_count(&packing))
                nt_winograd_pack(&packing, (0..<(5 * 75 * 9)).map { Float($0 % 17 * 24) }, &packed)
                sums["winograd tile \(tile) panel \(panel) lanes \(lanes)"] = Self.sum(packed.map { ($0 * 1024).rounded() })
            }
        }
        for (name, sum) in sums { XCTAssertEqual(Self.knownSums[name], sum, "the layout of '\(name)' is new or has changed: \(sum)") }
    }

    private static func sum(_ values: [Float]) -> UInt64 {
        values.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1.bitPattern)) &* 0x100_0000_01b3 }
    }

    private static let knownSums: [String: UInt64] = [
        "gemm avx512 14x32": 3_271_004_072_961_921_253, "gemm avx512 9x48": 2_508_699_026_422_255_845,
        "gemm avx512vl 8x24": 3_784_016_618_764_931_301, "gemm avx512bf16vl 8x24": 5_179_052_811_563_343_457,
        "winograd avx512vl 8x24": 4_811_690_184_342_340_645, "strassen avx512vl 8x24": 12_791_107_358_365_317_829,
        "gemm avx512vl 24x8": 12_123_943_357_288_747_237, "strassen avx512vl 24x8": 14_028_713_444_490_869_445,
        "gemm avx512 7x64": 15_730_820_360_951_779_557, "gemm avx2 6x16": 2_566_402_991_398_047_973,
        "gemm avx2 12x8": 12_123_943_357_288_747_237,
        "gemm portable 4x8": 1_064_167_219_537_676_469,
        "gemm avx512bf16 14x32": 8_971_121_731_620_715_925, "gemm avx512bf16 9x48": 3_943_079_456_915_974_305,
        "gemm amx 32x32": 8_971_121_731_620_715_925, "gemm amx-model 32x32": 8_971_121_731_620_715_925,
        "gemm avx512bf16 7x64": 17_245_460_249_835_987_177, "depthwise avx512": 15_932_872_316_897_954_213,
        "depthwise avx2": 15_932_872_316_897_954_213, "depthwise portable": 15_932_872_316_897_954_213,
        "depthwise avx512bf16": 13_608_016_505_143_527_845,
        "gemm avx512fp16 14x32": 17_271_209_855_696_105_108, "gemm float16 model 14x32": 17_271_209_855_696_105_108,
        "gemm avx512fp16 9x48": 14_368_916_376_997_121_764, "gemm avx512fp16 6x64": 12_860_365_987_804_192_708,
        "depthwise avx512 float16": 15_932_872_316_897_954_213,
        "strassen avx2 12x8": 14_028_713_444_490_869_445, "strassen avx2 6x16": 8_295_717_728_375_798_469,
        "strassen avx512 14x32": 3_872_541_466_077_004_261, "strassen avx512 7x64": 11_439_912_409_485_902_309,
        "strassen avx512 9x48": 11_439_912_409_485_902_309, "strassen portable 4x8": 14_028_713_444_490_869_445,
        "winograd tile 3 panel 16 lanes 16": 16_560_839_815_290_545_925, "winograd tile 3 panel 16 lanes 8": 16_560_839_815_290_545_925,
        "winograd tile 3 panel 32 lanes 16": 5_454_775_145_633_033_829, "winograd tile 3 panel 4 lanes 4": 9_007_465_761_040_042_197,
        "winograd tile 3 panel 48 lanes 16": 12_590_516_045_733_737_317, "winograd tile 3 panel 64 lanes 16": 8_182_153_879_068_753_317,
        "winograd tile 3 panel 8 lanes 4": 8_240_548_093_655_418_229, "winograd tile 3 panel 8 lanes 8": 11_448_332_597_289_604_485,
        "winograd tile 4 panel 16 lanes 16": 15_588_511_418_822_781_989, "winograd tile 4 panel 16 lanes 8": 15_588_511_418_822_781_989,
        "winograd tile 4 panel 32 lanes 16": 239_886_706_639_157_797, "winograd tile 4 panel 4 lanes 4": 10_880_906_930_254_565_861,
        "winograd tile 4 panel 48 lanes 16": 1_056_555_409_769_588_005, "winograd tile 4 panel 64 lanes 16": 17_279_245_652_994_855_973,
        "winograd tile 4 panel 8 lanes 4": 9_211_518_603_344_759_269, "winograd tile 4 panel 8 lanes 8": 5_744_739_231_938_066_981,
        "winograd tile 5 panel 16 lanes 16": 540_971_381_109_004_901, "winograd tile 5 panel 16 lanes 8": 540_971_381_109_004_901,
        "winograd tile 5 panel 32 lanes 16": 1_047_852_788_723_914_981, "winograd tile 5 panel 4 lanes 4": 15_005_105_208_851_887_445,
        "winograd tile 5 panel 48 lanes 16": 15_849_247_818_780_474_085, "winograd tile 5 panel 64 lanes 16": 9_179_424_765_457_280_485,
        "winograd tile 5 panel 8 lanes 4": 13_485_067_000_046_834_005, "winograd tile 5 panel 8 lanes 8": 15_553_145_056_008_948_325,
    ]
}
