internal import Preferences

/// That one of two stores could not be read or written.
struct SyncFailure: Error {
  let store: any PreferencesStore
  let cause: any Error

  static func telling<Answer>(
    _ store: any PreferencesStore, _ question: () throws -> Answer
  ) throws(SyncFailure) -> Answer {
    do { return try question() } catch { throw SyncFailure(store: store, cause: error) }
  }
}
