import Foundation
import Needletail

/// Where a model may run, numbered as on Apple's systems.
public enum MLComputeUnits: Int, Sendable {
    /// The processor's SIMD units.
    case cpuOnly = 0
    /// An OpenCL GPU when there is one, else the processor.
    case cpuAndGPU = 1
    /// As `cpuAndGPU`: the fastest there is.
    case all = 2
    /// There is no neural engine here: the processor.
    case cpuAndNeuralEngine = 3
}

/// How a model is loaded.
public final class MLModelConfiguration: NSObject, NSCopying, @unchecked Sendable {
    public var computeUnits: MLComputeUnits = .all
    /// Lets the GPU accumulate in half precision on Apple's systems; sums are float32 here whatever it says.
    public var allowLowPrecisionAccumulationOnGPU = false
    /// The name shown for the model in messages; nil takes the file's.
    public var modelDisplayName: String?
    /// The function of a model that has several; nil takes the default one.
    public var functionName: String?
    /// Needletail's own settings: backend, device, threads and precision by name. Set, it overrides `computeUnits`.
    public var session: SessionConfiguration?
    /// Compares the first prediction with the reference in double precision; a prediction that differs throws.
    public var verifiesFirstPrediction = false

    public override init() { super.init() }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = MLModelConfiguration()
        copy.computeUnits = computeUnits
        copy.allowLowPrecisionAccumulationOnGPU = allowLowPrecisionAccumulationOnGPU
        copy.modelDisplayName = modelDisplayName
        copy.functionName = functionName
        copy.session = session
        copy.verifiesFirstPrediction = verifiesFirstPrediction
        return copy
    }

    var resolved: SessionConfiguration {
        if let session { return session }
        var configuration = SessionConfiguration(verifiesFirstPrediction: verifiesFirstPrediction)
        switch computeUnits {
        case .cpuOnly, .cpuAndNeuralEngine: configuration.backend = .cpu
        case .cpuAndGPU, .all: configuration.backend = .auto
        }
        return configuration
    }
}

/// How one prediction is made.
public final class MLPredictionOptions: NSObject, @unchecked Sendable {
    /// Deprecated on Apple's systems in favour of `MLModelConfiguration.computeUnits`; accepted, without effect.
    public var usesCPUOnly = false
    /// Memory to write outputs into by name: multi-arrays of the output's size.
    public var outputBackings: [String: Any] = [:]

    public override init() { super.init() }
}
