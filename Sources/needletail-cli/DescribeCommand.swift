import Foundation
import Needletail

/// `needletail describe`: what a model's file says, whether or not it can run here.
enum DescribeCommand: Command {
    static let name = "describe"
    static let operands = "MODEL [flags]"
    static let summary = "Show a model's inputs, outputs, labels, preprocessing and layers."
    static let flags = [
        Flag(name: "--backend", value: "NAME", help: "also show where each step runs: auto, cpu, opencl or reference"),
        CommonFlags.device, CommonFlags.threads, CommonFlags.precision, CommonFlags.json,
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        guard let path = arguments.positional.first else { throw UsageError("a model is missing") }
        guard arguments.positional.count == 1 else { throw UsageError("unexpected argument '\(arguments.positional[1])'") }
        if arguments.string("--backend") == nil, let flag = ["--device", "--threads", "--precision"].first(where: { arguments.string($0) != nil }) {
            throw UsageError("\(flag) goes with --backend: without it nothing is made ready to run")
        }
        let configuration = try CommonFlags.configuration(arguments)
        let model = try Model(contentsOf: CommonFlags.url(path, "the model"))
        let steps = arguments.string("--backend") == nil ? nil : try CommonFlags.session(model, configuration)
        if arguments.has("--json") {
            var object = try json(model)
            if let steps {
                object["plan"] = steps.planSteps.map {
                    ["backend": $0.backend, "kernel": $0.kernel, "layers": $0.layers, "output": $0.output, "reason": $0.reason] as [String: Any]
                }
                object["device"] = steps.backendDescription
                object["deviceReason"] = steps.backendReason
                object["fallbacks"] = steps.fallbacks
            }
            try Console.print(Console.json(object))
            return 0
        }
        try Console.print(text(model))
        if let session = steps {
            try Console.print("\nplan on \(session.backendDescription): \(session.backendReason)")
            for step in session.planSteps { try Console.print(line(step)) }
            for fallback in session.fallbacks { try Console.print("  fallback: \(fallback)") }
        }
        return 0
    }

    /// Backend, kernels, output, layers, and why.
    private static func line(_ step: Session.PlanStep) -> String {
        "  " + step.backend.padding(toLength: 10, withPad: " ", startingAt: 0) + " "
            + step.kernel.padding(toLength: max(step.kernel.count, 26), withPad: " ", startingAt: 0)
            + "  \(step.output)  \(step.layers.joined(separator: " + "))" + (step.reason.isEmpty ? "" : "  (\(step.reason))")
    }

    private static func text(_ model: Model) throws -> String {
        let description = model.description
        var lines = ["\(model.name): \(description.modelType), specification version \(description.specificationVersion)"]
        for (label, value) in [
            ("description", description.shortDescription), ("author", description.author),
            ("license", description.license), ("version", description.versionString),
        ] where !value.isEmpty {
            lines.append("  \(label): \(value)")
        }
        for (key, value) in description.userDefined.sorted(by: { $0.key < $1.key }) { lines.append("  \(key): \(value)") }
        lines.append("inputs")
        lines += description.inputs.map(line)
        lines.append("outputs")
        lines += description.outputs.map(line)
        if let name = description.predictedFeatureName { lines.append("predicted feature: \(name)") }
        if let name = description.predictedProbabilitiesName { lines.append("probabilities: \(name)") }
        if let labels = description.classLabels {
            let shown = labels.prefix(8).map(\.description).joined(separator: "; ")
            lines.append("labels: \(labels.count): \(shown)\(labels.count > 8 ? "; …" : "")")
        }
        lines += model.preprocessing.map { "preprocessing: \($0)" }
        lines += model.remarks.map { "note: \($0)" }
        let layers = try model.layers()
        lines.append("layers: \(layers.count), weights \(layers.reduce(0) { $0 + $1.weightByteCount }) bytes")
        for layer in layers {
            let weights = layer.weights.isEmpty ? "" : "  [\(layer.weights)]"
            lines.append(
                "  \(layer.name): \(layer.type)  \(layer.inputs.joined(separator: ", ")) -> \(layer.outputs.joined(separator: ", "))\(weights)")
        }
        return lines.joined(separator: "\n")
    }

    private static func line(_ feature: ModelDescription.Feature) -> String {
        let optional = feature.isOptional ? " (optional)" : ""
        let note = feature.shortDescription.isEmpty ? "" : "  \(feature.shortDescription)"
        return "  \(feature.name): \(feature.kindText)\(optional)\(note)"
    }

    private static func json(_ model: Model) throws -> [String: Any] {
        let description = model.description
        func features(_ list: [ModelDescription.Feature]) -> [[String: Any]] {
            list.map { feature in
                var object = feature.kindObject
                object["name"] = feature.name
                object["optional"] = feature.isOptional
                object["description"] = feature.shortDescription
                return object
            }
        }
        var object: [String: Any] = [
            "name": model.name, "type": description.modelType, "specificationVersion": description.specificationVersion,
            "inputs": features(description.inputs), "outputs": features(description.outputs),
            "description": description.shortDescription, "author": description.author, "license": description.license,
            "version": description.versionString, "userDefined": description.userDefined,
            "updatable": description.isUpdatable, "preprocessing": model.preprocessing, "notes": model.remarks,
            "layers": try model.layers().map { layer in
                [
                    "name": layer.name, "type": layer.type, "inputs": layer.inputs, "outputs": layer.outputs,
                    "weights": layer.weights, "weightBytes": layer.weightByteCount,
                ] as [String: Any]
            },
        ]
        if let name = description.predictedFeatureName { object["predictedFeatureName"] = name }
        if let name = description.predictedProbabilitiesName { object["predictedProbabilitiesName"] = name }
        if let labels = description.classLabels { object["classLabels"] = labels.map(\.description) }
        return object
    }
}
