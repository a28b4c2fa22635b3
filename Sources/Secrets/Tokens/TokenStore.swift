internal import Preferences
internal import VaultCore

/// What a store has for a ``RefreshingToken``.
struct TokenRecord: Sendable {
  let tokens: TokenText
  let mark: RefreshMark?
  let version: TokenVersion

  func hasSameTokens(as other: TokenText) -> Bool { tokens.content.isEqual(to: other.content) }
}

/// What a compare-and-set of a token's record compares.
enum TokenVersion: Sendable {
  /// The metadata of a vault's record, with its revision.
  case record(RecordInfo)
  /// The whole content, in other stores.
  case content(PreferenceContent)
}

/// The record of a ``RefreshingToken``: tokens and mark, which are changed together by compare-and-set.
///
/// A write returns `false`, with nothing changed, if the record is another one than its version says.
protocol TokenStore: Sendable {
  /// The name of the store, without a key.
  var name: String { get }
  /// Equal for all objects of one record.
  var place: TokenIdentity { get }

  /// The version of the record, which need not hold tokens; `nil` if there is none. May wait, as ``find()``.
  func version() throws -> TokenVersion?
  /// May wait for the lock of a log: `async` code calls it in ``reading(_:)``.
  /// - Throws: ``VaultError/Code/typeMismatch`` if the record holds no tokens.
  func find() throws -> TokenRecord?
  /// Runs `body` on a helper thread if a read of the store may wait.
  func reading<R: Sendable>(_ body: @Sendable (Self) throws -> R) async throws -> R
  /// Stores tokens and a mark over a record, or for the first time.
  func store(_ tokens: TokenText, _ mark: RefreshMark?, over version: TokenVersion?) async throws -> Bool
  /// Replaces the mark.
  func write(_ mark: RefreshMark, to record: TokenRecord) async throws -> Bool
  func remove(_ record: TokenRecord) async throws -> Bool
}

/// Says which record a token is.
enum TokenIdentity: Hashable, Sendable {
  case vault(group: Vault.Identifier, service: Vault.Name, key: String)
  case store(StoreIdentity, key: String)
}
