import Preferences
import Synchronization

/// The state that all stores of one suite share in this process.
final class UserDefaultsSuite: Sendable {
  let file: UserDefaultsFile
  let changes = ChangeBroadcast()
  /// `nil` until the file was read for the first time.
  private let known = Mutex<[String: PreferenceValue]?>(nil)
  /// Held while the file is read or replaced, so that results are applied in the same order. Locked before `known`.
  private let saving = Mutex(())

  private init(_ file: UserDefaultsFile) { self.file = file }

  var values: [String: PreferenceValue]? { known.withLock(\.self) }

  /// - Returns: the keys whose values have changed.
  func reload() throws(PreferencesError) -> Set<String> {
    try saving.withLock { _ throws(PreferencesError) in take(try file.read()) }
  }

  /// Applies a change to the current values of the file.
  ///
  /// - Returns: the keys whose values have changed, those that others have changed in the file, and the error if the
  ///   new file may not survive a power failure.
  func change(
    _ edit: (inout [String: PreferenceValue]) -> Void
  ) throws(PreferencesError) -> (keys: Set<String>, ofOthers: Set<String>, failure: PreferencesError?) {
    try saving.withLock { _ throws(PreferencesError) in
      var ofOthers: Set<String> = []
      do throws(PreferencesError) {
        let new = try file.replace { values in
          // Before the first read, no observer knows an old value.
          ofOthers = self.values.map { Self.changes(from: $0, to: values) } ?? []
          edit(&values)
        }
        return (take(new), ofOthers, nil)
      } catch {
        guard error.code == .durabilityUnknown else { throw error }
        return (take(try file.read()), ofOthers, error)
      }
    }
  }

  private func take(_ new: [String: PreferenceValue]) -> Set<String> {
    let old = known.withLock { known in
      defer { known = new }
      return known
    }
    return Self.changes(from: old, to: new)
  }

  /// The keys with different values; all keys if none were known.
  private static func changes(from old: [String: PreferenceValue]?, to new: [String: PreferenceValue]) -> Set<String> {
    guard let old else { return Set(new.keys) }
    return Set(old.keys).union(new.keys).filter { key in
      switch (old[key], new[key]) {
      case (let before?, let after?): !before.isIdentical(to: after)
      default: true
      }
    }
  }
}

extension UserDefaultsSuite {
  private struct Weak {
    weak var suite: UserDefaultsSuite?
  }

  private static let inUse = Mutex<[String: Weak]>([:])

  /// The suite of `file` that is in use; creates it if there is none.
  private static func over(_ file: UserDefaultsFile) -> UserDefaultsSuite {
    inUse.withLock { inUse in
      if let suite = inUse[file.path]?.suite { return suite }
      let suite = UserDefaultsSuite(file)
      inUse = inUse.filter { $0.value.suite != nil }
      inUse[file.path] = Weak(suite: suite)
      return suite
    }
  }

  static func named(_ name: String) throws(PreferencesError) -> UserDefaultsSuite {
    over(try UserDefaultsFile(suite: name))
  }

  /// The suite of the program itself.
  static let program = over(.program)
}
