/// Cases for every operator, with border shapes. Every backend's tests run all of them:
///
///     for test in OperatorCases.all { problems += BackendCheck.run(test, on: backend) }
package enum OperatorCases {
    /// Every case.
    package static let all: [OperatorCase] =
        convolution + depthwise + convolutionTranspose + dense + matMul + pool + unary + binary + elementwise + movement
        + gather + normalization + reduce + spatial + selection + blocks + empty

    /// The cases that cover an operator of this kind.
    package static func covering(_ kind: String) -> [OperatorCase] { all.filter { $0.kinds.contains(kind) } }
}
