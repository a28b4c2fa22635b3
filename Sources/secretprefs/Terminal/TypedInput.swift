internal import DurableFiles
internal import VaultCore

/// Keeps what a user has typed until it is saved.
enum TypedInput {
  /// Calls `save`. If it fails and `isTyped`, reports the error and asks whether to try again.
  static func save<Result>(_ messages: Messages, isTyped: Bool, _ save: () throws -> Result) throws -> Result {
    while true {
      do { return try save() } catch let error as VaultError {
        // With an unknown durability it is saved.
        guard isTyped, error.code != .durabilityUnknown, !PendingSignal.isPending, ControllingTerminal.exists else {
          throw error
        }
        let question = "\(displayed(error.message))\nIt was not saved. Try again with what you typed?"
        guard try Prompt.confirms(question) else { throw error }
      }
    }
  }
}
