internal import DurableFiles

extension DictionaryPreferences {
  /// Reads the regular file at `path`, of at most 16 MiB. Later changes of the file are not loaded.
  ///
  /// The values are the top level of the file. Unlike ``FilePreferences``, this store does not follow dots into
  /// dictionaries, and parses no text: a number of a dotenv file stays a string.
  ///
  /// - Throws: `PreferencesError` with `notFound`, `unreadable`, `malformed` or `limitExceeded`.
  public convenience init<Format: PreferenceFileFormat>(
    contentsOf path: String, format: Format
  ) throws(PreferencesError) {
    do {
      let bytes = try RegularFile.read(path, upTo: FilePreferences<Format>.maximumByteCount)
      self.init(try format.values(from: bytes), name: "\(Format.name) \(path)")
    } catch { throw error.about("\(Format.name) \"\(path)\"") }
  }

  /// Creates or replaces the file at `path`. The file is durable when the method returns. An existing file keeps its
  /// owner and permissions, and what is no value, such as comments and the order.
  ///
  /// - Parameter isPrivate: whether a new file is accessible to this user only, and an existing one that others can
  ///   access is refused.
  /// - Throws: `PreferencesError` with `unwritable`, `exposed`, `unsupportedByFormat`, `limitExceeded`, `malformed` for
  ///   an existing file of another format, or `unreadable` for anything but a regular file, with the old file intact;
  ///   `durabilityUnknown` with the new file in place.
  public func write<Format: PreferenceFileFormat>(
    to path: String, format: Format, isPrivate: Bool = false
  ) throws(PreferencesError) {
    do {
      let replace = try FileReplacement(path, isPrivate: isPrivate)
      let values = Dictionary(uniqueKeysWithValues: self.map { ($0.key, $0.value) })
      try replace(upTo: FilePreferences<Format>.maximumByteCount) { old throws(PreferencesError) in
        try format.bytes(of: values, replacing: old?.isEmpty == true ? nil : old)
      }
    } catch { throw error.about("\(Format.name) \"\(path)\"") }
  }

  /// The asynchronous form of `write(to:format:isPrivate:)`. Cancelling the task does not stop it.
  public func write<Format: PreferenceFileFormat>(
    to path: String, format: Format, isPrivate: Bool = false
  ) async throws(PreferencesError) {
    try await HelperPool.waiting(for: path).run { () throws(PreferencesError) in
      try write(to: path, format: format, isPrivate: isPrivate)
    }
  }
}
