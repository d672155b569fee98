import NTTensor

/// Lays weights out as the kernels read them.
enum WeightPacking {
    /// [G O][C][KH][KW] (O and C per group) to [group][panel][KH KW C][panelWidth], missing channels zero.
    /// `index(o, c, tap)` says where the weight of output channel `o` (over all groups) lies in `weights`.
    static func panels(
        _ weights: UnsafeBufferPointer<Float>, groups: Int, outputs: Int, channels: Int, taps: Int, panelWidth: Int,
        index: (_ output: Int, _ channel: Int, _ tap: Int) -> Int
    ) -> [Float] {
        let panels = (outputs + panelWidth - 1) / panelWidth
        let depth = taps * channels
        return [Float](unsafeUninitializedCapacity: groups * panels * depth * panelWidth) { target, count in
            count = groups * panels * depth * panelWidth
            var at = 0
            for group in 0..<groups {
                for panel in 0..<panels {
                    let first = panel * panelWidth
                    let width = min(panelWidth, outputs - first)
                    for tap in 0..<taps {
                        for channel in 0..<channels {
                            for lane in 0..<width { target[at + lane] = weights[index(group * outputs + first + lane, channel, tap)] }
                            for lane in width..<panelWidth { target[at + lane] = 0 }
                            at += panelWidth
                        }
                    }
                }
            }
        }
    }

    /// [O][C] to rows of C, each padded with zeros to a multiple of 4, for a multiple of `panelWidth` channels.
    static func rows(
        _ weights: UnsafeBufferPointer<Float>, outputs: Int, channels: Int, panelWidth: Int, index: (_ output: Int, _ channel: Int, _ tap: Int) -> Int
    ) -> [Float] {
        let (count, length) = ((outputs + panelWidth - 1) / panelWidth * panelWidth, (channels + 3) / 4 * 4)
        var result = [Float](repeating: 0, count: count * length)
        for output in 0..<outputs { for channel in 0..<channels { result[output * length + channel] = weights[index(output, channel, 0)] } }
        return result
    }

    /// A bias [G O] padded to whole panels, or zeros.
    static func biasPanels(_ bias: UnsafeBufferPointer<Float>?, groups: Int, outputs: Int, panelWidth: Int) -> [Float] {
        let width = (outputs + panelWidth - 1) / panelWidth * panelWidth
        var result = [Float](repeating: 0, count: groups * width)
        guard let bias else { return result }
        for group in 0..<groups { for o in 0..<outputs { result[group * width + o] = bias[group * outputs + o] } }
        return result
    }

    /// Depthwise weights [C][1][KH][KW] to [KH KW][C].
    static func tapsFirst(_ weights: UnsafeBufferPointer<Float>, channels: Int, taps: Int) -> [Float] {
        var result = [Float](repeating: 0, count: channels * taps)
        for channel in 0..<channels { for tap in 0..<taps { result[tap * channels + channel] = weights[channel * taps + tap] } }
        return result
    }
}
