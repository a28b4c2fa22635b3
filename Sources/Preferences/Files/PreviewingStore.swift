/// A store in which a write can change lookups of other names, such as a file, where `server.port` is an entry of the
/// dictionary `server`.
package protocol PreviewingStore: PreferencesStore {
  /// Returns the values as they would be after `edits`, without their conditions. Nothing is changed or refused.
  func preview(of edits: PreferenceEdits) throws -> any PreferencesReader
}

extension FilePreferences: PreviewingStore {
  package func preview(of edits: PreferenceEdits) throws -> any PreferencesReader {
    var values = edits.clears ? [:] : loadedValues
    // Outer names first, as in a write.
    let sorted = edits.edits.sorted { $0.name.text.utf8.count < $1.name.text.utf8.count }
    for edit in edits.isUnordered ? sorted : edits.edits {
      if let value = try edit.content?.value() {
        NestedValues.store(value, under: edit.name.text, in: &values)
      } else {
        NestedValues.remove(edit.name.text, from: &values)
      }
    }
    return NestedReader(values: values, isText: Format.isText)
  }
}
