import Foundation
import Preferences
import Synchronization

/// A store in memory with one fault, or none.
final class FaultyPreferences: PreferencesStore, Identifiable {
  /// What is wrong with it, and the item of which a rule finds it.
  enum Fault: String, CaseIterable {
    case dropsWrites = "1: stores nothing"
    case answersForAnything = "1: has a value under every name"
    case forgetsTypes = "1: keeps the text of a value"
    case forgetsKeys = "2: lists every second key"
    case listsPhantoms = "2: lists a key that has no value"
    case answersZero = "3: gives zero for what is of another type"
    case mixesNumbers = "4: keeps true and 1.0 as 1"
    case cutsIntegers = "5: keeps 16 bits of an integer"
    case losesSigns = "6: keeps -0 as 0"
    case keepsPaths = "7: keeps the path of a URL"
    case keepsRemoved = "8: keeps what is removed"
    case missesAbsent = "8: fails at removing what is absent"
    case dropsBeforeRefusing = "9: removes the old value before it refuses the new one"
    case mergesPartly = "9: stores a part of a merge that it refuses"
    case replacesOnMerge = "24: forgets what a merge does not name"
    case keepsAll = "24: keeps everything when all is removed"
    case losesWrites = "25: loses every seventh write"
    case answersByTurns = "32: returns a value two times out of three"
    case sharesIdentity = "32: is the same as all others"
    case deniesSecrets = "34: does not say that what it holds is sealed"
    case printsValues = "34: prints its values"
    case repeatsValues = "34: repeats values in its errors"
    case takesDotsForPaths = "40: removes what is below a name, too"
    case ignoresCase = "40: takes two names for one"
    case comparesBytes = "40: takes one name for two"
    case notifiesNoObserver = "40: notifies no observer"
    case comparesTooEarly = "70: compares before it takes its lock"

    /// The item that forbids it.
    var item: Int { Int(rawValue.prefix { $0.isNumber }) ?? 0 }
  }

  let name = "faulty"
  let custody: Custody
  let fault: Fault?
  private let values = Mutex<[String: PreferenceValue]>([:])
  private let writing = NSRecursiveLock()
  private let count = Atomic(0)
  private let changes = ChangeBroadcast()

  init(_ fault: Fault?, isSealed: Bool) {
    self.fault = fault
    custody = isSealed ? .sealed : .plain
  }

  var id: StoreIdentity {
    fault == .sharesIdentity ? StoreIdentity(Self.self, name: name) : StoreIdentity(self)
  }

  // MARK: Reading

  func value(for query: PreferenceQuery) -> PreferenceValue? {
    if fault == .deniesSecrets, query.secrecy == .secret { return nil }
    let value = stored(query.name.text)
    guard let value, fault == .answersZero, let kind = query.kind, value.kind != kind else { return value }
    switch kind {
    case .integer: return 0
    case .double: return 0.0
    case .bool: return false
    default: return value
    }
  }

  private func stored(_ name: String) -> PreferenceValue? {
    let key = meant(name)
    if fault == .answersByTurns, isTurn(of: 3) { return nil }
    let found = values.withLock { values in
      values.first { $0.key == key && (fault != .comparesBytes || $0.key.utf8.elementsEqual(key.utf8)) }?.value
    }
    return found ?? (fault == .answersForAnything ? "" : nil)
  }

  func names(of secrecy: Secrecy) -> [PreferenceName] {
    if fault == .deniesSecrets, secrecy == .secret { return [] }
    let keys = values.withLock { $0.keys.sorted() }
    switch fault {
    case .forgetsKeys: return PreferenceName.valid(keys.indices.filter { $0 % 2 == 0 }.map { keys[$0] })
    case .listsPhantoms: return PreferenceName.valid(keys + ["phantom"])
    default: return PreferenceName.valid(keys)
    }
  }

  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    fault == .notifiesNoObserver ? PreferenceObservation {} : changes.observe(notify)
  }

  // MARK: Writing

  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    if fault == .comparesTooEarly {
      guard try areMet(edits) else { return .conflict }
      Thread.sleep(forTimeInterval: 0.0001)
    }
    return try write(edits)
  }

  func apply(_ edits: PreferenceEdits) async throws -> WriteOutcome {
    if fault == .comparesTooEarly {
      guard try areMet(edits) else { return .conflict }
      // Another task compares meanwhile, on however many threads.
      for _ in 0..<10 { await Task.yield() }
    }
    return try write(edits)
  }

  private func write(_ edits: PreferenceEdits) throws -> WriteOutcome {
    try changes.send(edits) { try writing.withLock { try make(edits) } }
  }

  private func make(_ edits: PreferenceEdits) throws -> WriteOutcome {
    guard try fault == .comparesTooEarly || areMet(edits) else { return .conflict }
    if edits.clears, fault != .keepsAll { values.withLock { $0 = [:] } }
    var written = try edits.edits.map { (key: meant($0.name.text), value: try $0.content?.value()) }
    if fault != .mergesPartly { for (key, value) in written { try check(value, key) } }
    if fault == .replacesOnMerge, written.count > 1 { values.withLock { $0 = [:] } }
    // From the last name on: what is refused comes when the others are stored.
    written.sort { $0.key > $1.key }
    for (key, value) in written {
      try check(value, key)
      if let value { set(value, key) } else { try remove(key) }
    }
    return .visible
  }

  /// Whether the conditions of the edits hold.
  private func areMet(_ edits: PreferenceEdits) throws -> Bool {
    for edit in edits.edits {
      guard case .ifStored(let expected) = edit.condition else { continue }
      let value = values.withLock { $0[meant(edit.name.text)] }
      guard value.isSame(as: try expected?.value()) else { return false }
    }
    return true
  }

  private func check(_ value: PreferenceValue?, _ key: String) throws {
    guard let value, isRefused(value) else { return }
    if fault == .dropsBeforeRefusing { values.withLock { $0[key] = nil } }
    throw Refusal(text: fault == .repeatsValues ? "\(value)" : "not storable")
  }

  private func set(_ value: PreferenceValue, _ key: String) {
    if fault == .dropsWrites || fault == .losesWrites && isTurn(of: 7) { return }
    values.withLock { $0[key] = kept(value) }
  }

  private func remove(_ key: String) throws {
    guard fault != .keepsRemoved else { return }
    let removed = values.withLock { values in
      if fault == .takesDotsForPaths { values = values.filter { !$0.key.hasPrefix(key + ".") } }
      return values.removeValue(forKey: key)
    }
    if removed == nil, fault == .missesAbsent { throw Refusal(text: "nothing to remove") }
  }

  // MARK: Faults

  private func isTurn(of length: Int) -> Bool {
    count.add(1, ordering: .relaxed).newValue % length == 0
  }

  private func meant(_ key: String) -> String { fault == .ignoresCase ? key.lowercased() : key }

  /// Of what is hard to store this store takes all but dates that are no moment, and names of nothing.
  private func isRefused(_ value: PreferenceValue) -> Bool {
    switch value {
    case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
    case .double(let number): fault == .dropsBeforeRefusing && number.isNaN
    case .array(let items): fault == .repeatsValues && items.count == 1 && items[0].kind == .array
    default: false
    }
  }

  private func kept(_ value: PreferenceValue) -> PreferenceValue {
    switch (fault, value) {
    // Not of integers: a sync that cannot keep its times never ends.
    case (.forgetsTypes, .bool), (.forgetsTypes, .double), (.forgetsTypes, .url), (.forgetsTypes, .data):
      .string("\(value)")
    case (.mixesNumbers, .bool(let flag)): flag ? 1 : 0
    case (.mixesNumbers, .double(let number)): Int64(exactly: number).map(PreferenceValue.integer) ?? value
    case (.mixesNumbers, .array(let items)): .array(items.map(kept))
    case (.cutsIntegers, .integer(let number)): .integer(Int64(UInt16(truncatingIfNeeded: number) % 128))
    case (.cutsIntegers, .unsignedInteger(let number)): .unsignedInteger(number & 0xFF)
    case (.losesSigns, .double(let number)): number == 0 ? 0.0 : value
    case (.losesSigns, .array(let items)): .array(items.map(kept))
    case (.keepsPaths, .url(let url)): .url(URL(filePath: url.path))
    default: value
    }
  }
}

private struct Refusal: Error {
  let text: String
}

extension FaultyPreferences: CustomStringConvertible, CustomReflectable {
  var description: String { fault == .printsValues ? "faulty \(values.withLock(\.self))" : name }
  var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
