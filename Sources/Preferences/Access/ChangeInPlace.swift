/// A value that a property or a subscript lends for a change in place, such as `store[.limits].port += 1`.
///
/// An accessor that cannot throw lends a fallback after a failed read. The change of a fallback is discarded: writing
/// it back would replace a stored value that was never read, such as one of a different type, by a default.
///
/// ```swift
/// nonmutating _modify {
///   var change = ChangeInPlace(of: key.name, in: name, or: key.defaultValue) { try value(for: key) }
///   defer { change.finish { self[key] = $0 } }
///   yield &change.value
/// }
/// ```
package struct ChangeInPlace<Value> {
  package var value: Value
  private let isRead: Bool

  /// Reads the value. If that fails, reports the error to ``PreferenceFailures``.
  package init(
    of key: String, in reader: String, or fallback: @autoclosure () -> Value, reading read: () throws -> Value
  ) {
    do {
      value = try read()
      isRead = true
    } catch {
      PreferenceFailures.report(error, key: key, reader: reader)
      value = fallback()
      isRead = false
    }
  }

  /// Writes the value, if it was read.
  package func finish(_ write: (Value) -> Void) {
    if isRead { write(value) }
  }
}
