/// Returns the values that a sequence has ready, without waiting for more. Ends the sequence.
///
/// A sequence whose reader is cancelled returns its waiting values and then ends.
func ready<Value: Sendable>(_ values: AsyncStream<Value>) async -> [Value] {
  await Task {
    withUnsafeCurrentTask { $0?.cancel() }
    var all: [Value] = []
    for await value in values { all.append(value) }
    return all
  }.value
}
