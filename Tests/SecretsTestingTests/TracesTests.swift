import Foundation
import Preferences
import Secrets
import SecretsTesting
import Testing

/// That a secret is found wherever it can be read, and only there.
struct TracesTests {
  // Not that of Scripts/traces: the names of these test cases are printed.
  private static let secret = "CONCEALED-5f3a"
  private static let bytes = Array(secret.utf8)

  /// Texts in which the secret can be read, and how.
  private static let readable: [(form: String, text: String)] = [
    ("as it is", "Bearer \(secret), more"),
    ("in Base64", Data("\(secret):x".utf8).base64EncodedString()),
    ("in Base64", Data("a\(secret):x".utf8).base64EncodedString()),
    ("in Base64", Data("ab\(secret):x".utf8).base64EncodedString()),
    ("in hexadecimal", bytes.map { String($0, radix: 16) }.joined()),
    ("in hexadecimal", bytes.map { String($0, radix: 16) }.joined().uppercased()),
    ("as numbers", "\(bytes)"),
    ("in UTF-16", secret.unicodeScalars.map { "\($0)\0" }.joined()),
  ]

  @Test(arguments: readable) func `a secret is found in each form`(form: String, text: String) {
    #expect(traces(of: Self.secret, in: text).contains("description, \(form)"))
  }

  @Test func `a secret is found in descriptions, dumps, mirrors, JSON and bytes`() {
    struct Hidden: Error, CustomStringConvertible, CustomDebugStringConvertible {
      let cause: String
      let description = "redacted"
      let debugDescription = "redacted"
    }
    struct Encoded: Encodable, CustomStringConvertible, CustomReflectable {
      let token: String
      let description = "redacted"
      var customMirror: Mirror { Mirror(self, children: []) }
    }
    #expect(traces(of: Self.secret, in: [Hidden(cause: Self.secret)]) == ["dump, as it is"])
    #expect(traces(of: Self.secret, in: Encoded(token: Self.secret)) == ["JSON, as it is"])
    #expect(traces(of: Self.secret, in: Data(Self.bytes)).contains("bytes, as it is"))
    #expect(traces(of: "a\"b", in: ["a\"b"]).contains("description, escaped"))
  }

  @Test(arguments: [
    #"{"token":"caf\u00e9/\"\n\ud83d\ude00"}"#, #"{"token":"caf\u00E9\/\"\n\uD83D\uDE00"}"#,
    #"{"token":"café\/\"\n😀"}"#,
  ]) func `a secret is found as different encoders write it in JSON`(json: String) {
    #expect(traces(of: "café/\"\n😀", in: json) == ["description, escaped"])
  }

  @Test func `a secret is found in Base64url`() {
    let secret = "??>~~~"
    let text = Data(secret.utf8).base64EncodedString()
    let url = text.replacingOccurrences(of: "+", with: "-")
    #expect(url != text)
    #expect(traces(of: secret, in: url).contains("description, in Base64url"))
    #expect(traces(of: secret, in: text).contains("description, in Base64"))
  }

  @Test func `an empty secret is in every text`() {
    #expect(traces(of: "", in: 5).count == traces(of: "5", in: 5).count)
    #expect(traces(of: "", in: 5).first == "description, an empty text")
  }

  @Test func `nothing is found where the secret is not`() throws {
    let error = VaultError(.locked, "CONCEALED-5f3", cause: VaultError(.io, "5f3a"))
    for value in [error, "", try Secret(Self.secret), [Data()], "concealed-5F3A"] as [Any] {
      #expect(traces(of: Self.secret, in: value) == [])
    }
  }

  @Test(.throwawayVault) func `a secret is found in a plain file, and not in a vault`() throws {
    let vault = ThrowawayVault.current
    let folder = URL(filePath: vault.path).deletingLastPathComponent().path
    try vault.preferences().set(Self.secret, forKey: "token")
    #expect(try traces(of: Self.secret, inFilesAt: folder) == [])
    #expect(try traces(of: Self.secret, inFilesAt: folder + "/none") == [])

    let plain = try JSONPreferences(at: folder + "/settings.json", options: .creating)
    try plain.set(Self.secret, forKey: "token")
    try plain.set(Data(Self.bytes), forKey: "data")

    let found = try traces(of: Self.secret, inFilesAt: folder)
    #expect(found.sorted() == [plain.path + ", as it is", plain.path + ", in Base64"])
    #expect(try traces(of: Self.secret, inFilesAt: plain.path).sorted() == found.sorted())
    #expect(found.allSatisfy { !$0.contains(Self.secret) })
  }

  @Test(.throwawayVault) func `a link to a file and a link to a folder are searched`() throws {
    let folder = URL(filePath: ThrowawayVault.current.path).deletingLastPathComponent().path
    let manager = FileManager.default
    try manager.createDirectory(atPath: folder + "/logs", withIntermediateDirectories: false)
    try Data(Self.bytes).write(to: URL(filePath: folder + "/logs/today"))
    try manager.createSymbolicLink(atPath: folder + "/file", withDestinationPath: "logs/today")
    try manager.createSymbolicLink(atPath: folder + "/folder", withDestinationPath: "logs")

    #expect(try traces(of: Self.secret, inFilesAt: folder + "/file") == [folder + "/file, as it is"])
    #expect(try traces(of: Self.secret, inFilesAt: folder + "/folder") == [folder + "/folder/today, as it is"])
    #expect(try traces(of: Self.secret, inFilesAt: folder) == [folder + "/logs/today, as it is"])
  }
}
