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

/// Returns the first value of a sequence; `nil` if there is none within `limit`. If the task is cancelled, returns what
/// the sequence has ready.
func first<Value: Sendable>(of values: AsyncStream<Value>, within limit: Duration) async -> Value? {
  await withTaskGroup(of: Value?.self) { group in
    group.addTask { await values.first { _ in true } }
    group.addTask {
      do { try await Task.sleep(for: limit) } catch {}
      return nil
    }
    var first: Value?
    for await value in group {
      first = first ?? value
      group.cancelAll()
    }
    return first
  }
}
