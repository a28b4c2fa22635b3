/// Reads bytes from left to right.
struct Cursor {
  /// A file that this reader does not take. It reads what other implementations wrote well, so one class is enough.
  struct Unreadable: Error {
    let part: String
  }

  private let bytes: Bytes
  private(set) var position = 0

  init(_ bytes: Bytes) { self.bytes = bytes }

  var remaining: Int { bytes.count - position }

  mutating func take(_ count: Int) throws -> Bytes {
    try require(count <= remaining, "a length")
    defer { position += count }
    return Bytes(bytes[position..<position + count])
  }

  mutating func integer<I: FixedWidthInteger>(_: I.Type = I.self) throws -> I {
    try take(MemoryLayout<I>.size).reversed().reduce(0) { $0 << 8 | I(truncatingIfNeeded: $1) }
  }

  mutating func lp16() throws -> Bytes { try take(Int(try integer(UInt16.self))) }
  mutating func lp32() throws -> Bytes { try take(Int(try integer(UInt32.self))) }

  func finish() throws { try require(remaining == 0, "bytes behind an end") }
}

/// Refuses a file unless something holds.
func require(_ condition: Bool, _ part: String) throws {
  guard condition else { throw Cursor.Unreadable(part: part) }
}

/// Gives what is there, or refuses the file.
func require<Value>(_ value: Value?, _ part: String) throws -> Value {
  guard let value else { throw Cursor.Unreadable(part: part) }
  return value
}
