import DurableFiles
import VaultCore
import VaultSealing

@testable import secretprefs

/// What git and docker ask of the credential helpers, and the URIs of one-time codes. The first byte chooses.
struct RequestTarget: FuzzTarget {
  func check(_ input: UnsafeRawBufferPointer) throws {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    switch first % 4 {
    case 0: try checkGit(bytes)
    case 1: try checkDocker(bytes)
    case 2: try checkLogin(bytes)
    default: try checkOneTime(bytes)
    }
  }

  private func checkGit(_ bytes: [UInt8]) throws {
    let request: GitRequest
    do { request = try GitRequest(try SecretBytes(copying: bytes.span.bytes)) } catch {
      return try demandNoSecret(ToolError(thrown: error).message, "a request")
    }
    do { _ = try request.expiry } catch { try demandNoSecret(ToolError(thrown: error).message, "an expiry") }
    for name in GitRequest.AttributeName.allCases {
      // In an answer, it would be a line of its own.
      let isLine = request.withBytes(of: name) { value in
        value.withUnsafeBytes { !hasControlCharacter($0) }
      }
      try demand(isLine ?? true, "an attribute with a control character")
      try demand(request.has(name) == (isLine != nil), "an attribute")
    }
    guard let login = request.login else { return }
    try checkKey(of: login)
    try demand(login.matches(login), "a request does not match itself")
  }

  /// A login is read from its key, which has one spelling.
  private func checkKey(of login: GitLogin) throws {
    guard let found = GitLogin(key: login.key) else {
      // What git never asks for: a scheme that no URL can have.
      return try demand(!login.scheme.allSatisfy(PercentEncoding.isWord), "the key of a login is none: \(login.key)")
    }
    guard login.scheme.allSatisfy(PercentEncoding.isWord) else { return }
    try demand(found.key == login.key, "the key of a login is not its own: \(login.key)")
    try demand(found == login, "a login is not read from its key: \(login.key)")
  }

  private func checkLogin(_ bytes: [UInt8]) throws {
    try withCopy(of: bytes) { copy in
      guard let (login, password) = GitLogin.parse(0..<copy.count, in: copy) else { return }
      try demand(password.map { $0.lowerBound >= 0 && $0.upperBound <= copy.count } ?? true, "a password")
      try checkKey(of: login)
    }
    try withCopy(of: bytes) { copy in
      guard let (login, _) = GitLogin.parse(storedLine: 0..<copy.count, in: copy) else { return }
      try checkKey(of: login)
    }
  }

  private func checkDocker(_ bytes: [UInt8]) throws {
    do {
      let request = try DockerRequest(try SecretBytes(copying: bytes.span.bytes))
      try demand(!request.server.isEmpty && !request.user.isEmpty, "a login without a name")
      try demand(!hasControlCharacter(request.user.utf8), "a user name with a control character")
      try request.withSecret { secret in
        try demand(secret.byteCount <= bytes.count, "a secret that is longer than its request")
      }
    } catch let violation as Violation { throw violation } catch {
      try demandNoSecret(DockerRefusal(thrown: error, GivenOptions()).text, "a refusal")
    }
  }

  private func checkOneTime(_ bytes: [UInt8]) throws {
    do {
      let password = try bytes.withUnsafeBytes { try OneTimePassword($0) }
      guard let successor = password.successor, case .counter(let counter) = password.factor else { return }
      let next = try successor.withUnsafeBytes { try OneTimePassword($0) }
      guard case .counter(counter + 1) = next.factor else { throw Violation(description: "the next code") }
    } catch let violation as Violation { throw violation } catch {
      try demandNoSecret(ToolError(thrown: error).message, "a one-time code")
    }
  }
}
