/// The values of a file with the changes that are not in it yet.
struct UnsavedValues: Sendable {
  /// What the file has, as changed here.
  private(set) var values: [String: PreferenceValue] = [:]
  /// The keys whose values are not in the file, and when they were written.
  private var unsaved: [String: UInt64] = [:]
  /// When everything was removed that the file has.
  private var emptied: UInt64?
  private var clock: UInt64 = 0

  /// Whether nothing has been changed here.
  var isEmpty: Bool { unsaved.isEmpty && emptied == nil }

  /// Changes the values of one key.
  mutating func write(_ key: String, _ edit: (inout [String: PreferenceValue]) -> Void) {
    edit(&values)
    clock += 1
    unsaved[key] = clock
  }

  mutating func removeAll() {
    clock += 1
    (values, unsaved, emptied) = ([:], [:], clock)
  }

  /// Takes the file's values for all that has not been changed here.
  ///
  /// - Returns: the names whose values are others now, and whether the file has to be.
  @discardableResult
  mutating func rebase(on file: [String: PreferenceValue]) -> (changed: Set<String>, differs: Bool) {
    var rebased = emptied == nil ? file : [:]
    var differs = rebased.count != file.count
    // Outer names first: the inner ones are then found inside them.
    for key in unsaved.keys.sorted(by: { $0.utf8.count < $1.utf8.count }) {
      // What stood beside a dictionary before is not put inside of it now, where it would change that.
      if let place = NestedValues.placeBesideDictionary(of: key, in: values),
        let value = NestedValues.find(key, in: values)
      {
        let before = rebased
        NestedValues.store(value, at: place[...], in: &rebased)
        differs = differs || !PreferenceValue.dictionary(before).isIdentical(to: .dictionary(rebased))
        continue
      }
      switch (NestedValues.find(key, in: values), NestedValues.find(key, in: rebased)) {
      case (nil, nil): continue
      case (let value?, let present?) where value.isIdentical(to: present): continue
      case (let value?, _): NestedValues.store(value, under: key, in: &rebased)
      case (nil, _): NestedValues.remove(key, from: &rebased)
      }
      differs = true
    }
    defer { values = rebased }
    return (NestedValues.changes(from: values, to: rebased), differs)
  }

  /// No longer counts as unsaved what a candidate has brought into the file.
  mutating func forget(_ candidate: Self) {
    unsaved = unsaved.filter { candidate.unsaved[$0.key] != $0.value }
    if emptied == candidate.emptied { emptied = nil }
  }
}
