@testable import VaultCore

/// A promise that a parser did not keep for the input at hand.
struct Violation: Error, CustomStringConvertible {
  let description: String
}

/// Throws a violation unless a promise is kept.
func demand(_ isKept: Bool, _ promise: @autoclosure () -> String) throws(Violation) {
  guard isKept else { throw Violation(description: promise()) }
}

/// Requires the same result of a parser and the reference: both accept, or both refuse with one class.
///
/// - Returns: what both made of the input; nil when they refuse it.
func agreement<Found, Expected>(
  _ place: String, _ parse: () throws(VaultError) -> Found, _ reference: () throws(VaultError) -> Expected
) throws(Violation) -> (found: Found, expected: Expected)? {
  switch (Result(catching: parse), Result(catching: reference)) {
  case (.success(let found), .success(let expected)): return (found, expected)
  case (.failure(let found), .failure(let expected)):
    try demand(found.code == expected.code, "\(place): refused as \(found), expected \(expected)")
    return nil
  case (.success, .failure(let expected)): throw Violation(description: "\(place): accepted, expected \(expected)")
  case (.failure(let found), .success): throw Violation(description: "\(place): refused as \(found), which is right")
  }
}
