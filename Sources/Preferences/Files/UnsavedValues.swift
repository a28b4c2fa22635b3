/// The values of a file, and the changes that are not saved yet.
struct UnsavedValues: Sendable {
  /// The values with the unsaved changes.
  private(set) var values: [String: PreferenceValue] = [:]
  /// The keys with unsaved changes, and the clock at their last change.
  private var unsaved: [String: UInt64] = [:]
  /// The clock at an unsaved removal of everything.
  private var emptied: UInt64?
  private var clock: UInt64 = 0

  /// Whether all changes are saved.
  var isEmpty: Bool { unsaved.isEmpty && emptied == nil }

  mutating func write(_ key: String, _ edit: (inout [String: PreferenceValue]) -> Void) {
    edit(&values)
    clock += 1
    unsaved[key] = clock
  }

  mutating func removeAll() {
    clock += 1
    values = [:]
    unsaved = [:]
    emptied = clock
  }

  /// Replaces the values by the file's values, with the unsaved changes on top.
  ///
  /// - Returns: the names whose values have changed, and whether the values differ from the file.
  @discardableResult
  mutating func rebase(on file: [String: PreferenceValue]) -> (changed: Set<String>, differs: Bool) {
    var rebased = emptied == nil ? file : [:]
    var differs = rebased.count != file.count
    // Outer names first, so that inner names are found inside them.
    for key in unsaved.keys.sorted(by: { $0.utf8.count < $1.utf8.count }) {
      // A value beside a dictionary stays beside it: inside, it would change the dictionary.
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

  /// Marks the changes of `candidate` as saved. Keys that have been changed again stay unsaved.
  mutating func forget(_ candidate: Self) {
    unsaved = unsaved.filter { candidate.unsaved[$0.key] != $0.value }
    if emptied == candidate.emptied { emptied = nil }
  }
}
