/// The values that a sequence has ready, without waiting for more; it ends with that.
///
/// A sequence whose reader is cancelled gives what waits in it, and then no more.
func ready<Value: Sendable>(_ values: AsyncStream<Value>) async -> [Value] {
  await Task {
    withUnsafeCurrentTask { $0?.cancel() }
    var all: [Value] = []
    for await value in values { all.append(value) }
    return all
  }.value
}
