import Foundation
import Preferences
import Synchronization

/// A small database, as the author of a different package would write a store: a file of transactions, each appended
/// and synchronized, which several objects and processes can write.
///
/// It uses only what is public. It sees what other objects have written when it writes.
final class DatabasePreferences: PreferencesStore {
  /// What one transaction leaves under its names.
  fileprivate struct Transaction {
    var clears: Bool
    var values: [PreferenceName: PreferenceValue?]
  }

  private struct State {
    var values: [PreferenceName: PreferenceValue] = [:]
    var end: UInt64 = 0
  }

  let path: String
  private let file: FileHandle
  private let state = Mutex(State())
  private let changes = ChangeBroadcast()

  var name: String { "database \(path)" }

  init(at path: String) throws {
    if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(filePath: path)) }
    self.path = path
    file = try FileHandle(forUpdating: URL(filePath: path))
    _ = try state.withLock { state in try locked { try readOthers(&state) } }
  }

  func value(for query: PreferenceQuery) -> PreferenceValue? { state.withLock { $0.values[query.name] } }
  func names(of secrecy: Secrecy) -> [PreferenceName] { state.withLock { Array($0.values.keys) } }

  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    changes.observe(notify)
  }

  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    let (others, outcome) = try state.withLock { state in
      try locked {
        let others = try readOthers(&state)
        var values = state.values
        let outcome = try edits.apply(to: &values)
        guard outcome != .conflict else { return (others, outcome) }
        let names = edits.edits.map { ($0.name, values[$0.name]) }
        try append(
          Transaction(clears: edits.clears, values: Dictionary(names, uniquingKeysWith: { $1 })), to: &state)
        state.values = values
        return (others, outcome)
      }
    }
    if let others { ChangeBroadcast.unsuppressed { changes.send(others) } }
    return changes.send(edits) { outcome }
  }

  // MARK: The file

  private func locked<R>(_ body: () throws -> R) throws -> R {
    guard flock(file.fileDescriptor, LOCK_EX) == 0 else { throw POSIXError(.EDEADLK) }
    defer { flock(file.fileDescriptor, LOCK_UN) }
    return try body()
  }

  /// Reads the transactions since the last call, and returns what they changed.
  private func readOthers(_ state: inout State) throws -> PreferenceChange? {
    try file.seek(toOffset: state.end)
    var names: Set<String> = []
    var clears = false
    while let length = try file.read(upToCount: 8), !length.isEmpty {
      let count = length.reduce(0) { $0 << 8 | UInt64($1) }
      guard length.count == 8, count < 1 << 30, let bytes = try file.read(upToCount: Int(count)), bytes.count == count
      else { throw CocoaError(.fileReadCorruptFile) }
      let transaction = try Transaction(Array(bytes))
      if transaction.clears { state.values = [:] }
      for (name, value) in transaction.values { state.values[name] = value }
      names.formUnion(transaction.values.keys.map(\.text))
      if transaction.clears { clears = true }
      state.end += 8 + count
    }
    if clears { return .anything }
    return names.isEmpty ? nil : PreferenceChange(keys: names)
  }

  private func append(_ transaction: Transaction, to state: inout State) throws {
    let bytes = try transaction.bytes
    let length = UInt64(bytes.count).bigEndian
    let frame = withUnsafeBytes(of: length) { Data($0) } + Data(bytes)
    do {
      try file.seek(toOffset: state.end)
      try file.write(contentsOf: frame)
      try file.synchronize()
    } catch {
      try file.truncate(atOffset: state.end)
      throw error
    }
    state.end += UInt64(frame.count)
  }
}

extension DatabasePreferences.Transaction {
  fileprivate init(_ bytes: [UInt8]) throws {
    let members = try JSONFormat().values(from: bytes)
    guard case .bool(let clears)? = members["clears"], case .dictionary(let set)? = members["set"],
      case .array(let removed)? = members["removed"]
    else { throw CocoaError(.fileReadCorruptFile) }
    self.clears = clears
    values = [:]
    for (name, value) in set { values[try PreferenceName(name)] = .some(value) }
    for name in removed { values[try PreferenceName(String(preferenceValue: name))] = .some(nil) }
  }

  fileprivate var bytes: [UInt8] {
    get throws {
      var set: [String: PreferenceValue] = [:]
      var removed: [PreferenceValue] = []
      for (name, value) in values {
        if let value { set[name.text] = value } else { removed.append(.string(name.text)) }
      }
      return try JSONFormat(keepingTypes: true).bytes(
        of: ["clears": .bool(clears), "set": .dictionary(set), "removed": .array(removed)], replacing: nil)
    }
  }
}
