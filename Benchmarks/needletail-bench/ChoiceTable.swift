import CNTKernels

/// Whether the kernel that is chosen for a product is the fastest, for every product of the benchmark networks.
enum ChoiceTable {
    /// How far behind the fastest the chosen kernel may be.
    private static let tolerance = 1.10

    /// A product for which the choice is wrong.
    struct WrongChoice: Error, CustomStringConvertible {
        let count: Int
        var description: String { "\(count) products: the chosen kernel is more than 10 % behind the fastest" }
    }

    static func run(_ arguments: [String]) throws {
        let networks = NetworkBuilder.all.filter { arguments.isEmpty || arguments.contains($0.name) }
        guard arguments.allSatisfy({ name in networks.contains { $0.name == name } }) else {
            throw UsageError(message: "the networks are \(NetworkBuilder.all.map(\.name).joined(separator: ", "))")
        }
        var shapes: Set<ProductShape> = []
        for network in networks { shapes.formUnion(ProductShape.all(in: try network.make())) }
        let sorted = shapes.sorted { ($0.m, $0.n, $0.k) > ($1.m, $1.n, $1.k) }
        var wrong = 0
        for (element, name) in [(NT_ELEMENT_FLOAT32, "float32"), (NT_ELEMENT_BFLOAT16, "bfloat16"), (NT_ELEMENT_FLOAT16, "float16")] {
            let kernels = ProductTrial.kernels(of: element)
            guard kernels.count > 1 else { continue }
            print(
                "\(name), \(kernels.count) kernels, \(sorted.count) products\n     M     N     K  chosen             us        fastest            us        ratio"
            )
            for shape in sorted where try !check(shape, kernels, element) { wrong += 1 }
        }
        if wrong > 0 { throw WrongChoice(count: wrong) }
    }

    /// Times the kernels in turns and prints how the chosen one does. A product that looks wrong is timed again, at length and in other memory, before it
    /// counts: where a matrix lies can cost more than the kernel.
    private static func check(_ shape: ProductShape, _ kernels: [UnsafePointer<nt_gemm_kernel>], _ element: Int) throws -> Bool {
        let choice = ProductTrial.chosen(shape, element)
        guard let chosen = kernels.firstIndex(where: { $0 == choice }) else { return false }
        var best = [Double](repeating: .infinity, count: kernels.count)
        func fastest() -> Int { best.indices.min { best[$0] < best[$1] } ?? chosen }
        for attempt in 0..<8 {
            try time(shape, kernels, chosen, rounds: attempt == 0 ? 12 : 40, first: attempt % kernels.count, &best)
            if best[chosen] <= tolerance * best[fastest()] { break }
        }
        let ratio = best[chosen] / best[fastest()]
        func cell(_ index: Int) -> String {
            Column.left(String(cString: kernels[index].pointee.name), 18) + Column.number(best[index] * 1e6, 9, 1) + "  "
        }
        let sizes = [shape.m, shape.n, shape.k].map { Column.number(Double($0), 6, 0) }.joined()
        let mark = ratio > tolerance ? "  <- wrong" : ""
        print(sizes + "  " + cell(chosen) + cell(fastest()) + Column.number(ratio, 6, 3) + mark)
        return ratio <= tolerance
    }

    /// Lowers `best` to what each kernel reaches in matrices of its own, laid out beginning with kernel `first`. Kernels far behind are left out soon.
    private static func time(
        _ shape: ProductShape, _ kernels: [UnsafePointer<nt_gemm_kernel>], _ chosen: Int, rounds: Int, first: Int, _ best: inout [Double]
    ) throws {
        let order = kernels.indices.map { ($0 + first) % kernels.count }
        let trials = try order.map { (index: $0, trial: try ProductTrial(kernels[$0], shape)) }
        for _ in 0..<rounds {
            for (index, trial) in trials { best[index] = min(best[index], trial.best) }
            let limit = 1.3 * (best.min() ?? .infinity)
            for (index, trial) in trials where index == chosen || best[index] < limit { trial.time() }
        }
        for (index, trial) in trials { best[index] = min(best[index], trial.best) }
    }
}
