/// An error from reading or writing one of the two stores.
struct SyncFailure: Error {
  let store: any PreferencesStore
  let cause: any Error

  static func telling<Answer>(
    _ store: any PreferencesStore, _ question: () throws -> Answer
  ) throws(SyncFailure) -> Answer {
    do { return try question() } catch { throw SyncFailure(store: store, cause: error) }
  }
}
