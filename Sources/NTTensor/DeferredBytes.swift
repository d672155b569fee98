/// Bytes that can be made again and again from something else: a part of a mapped file, say. Safe from any thread.
package struct DeferredBytes: Sendable {
    /// Writes the bytes of a range to memory for as many. A range begins and ends at whole elements.
    package let write: @Sendable (_ range: Range<Int>, _ target: UnsafeMutableRawPointer) -> Void
    /// Says that what `write` has read will hardly be wanted soon, so that it need not stay in memory.
    package let release: @Sendable () -> Void

    package init(
        write: @escaping @Sendable (_ range: Range<Int>, _ target: UnsafeMutableRawPointer) -> Void,
        release: @escaping @Sendable () -> Void = {}
    ) { (self.write, self.release) = (write, release) }
}
