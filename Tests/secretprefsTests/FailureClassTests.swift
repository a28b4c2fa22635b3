import Foundation
import Preferences
import Secrets
import Testing

@testable import secretprefs

/// The classes of errors: the lists in the sources, `Docs/Errors.md`, `Docs/Format.md` and the tool's exit codes agree.
struct FailureClassTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The codes of an error type that the sources declare.
  private static func codes(of type: String) throws -> Set<String> {
    let folder = root.appending(path: "Sources")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    var codes: Set<String> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      guard text.contains("struct \(type): ") || text.contains("extension \(type).Code {") else { continue }
      codes.formUnion(text.matches(of: /= (?:Self|Code)\(rawValue: "(\w+)"\)/).map { String($0.1) })
    }
    return codes
  }

  /// The row of the table in `Docs/Errors.md`.
  private static func row(_ code: String, _ failure: FailureClass) -> String {
    "| `\(code)` | \(failure.origin) | \(failure.httpStatus) | \(failure.exitCode) |"
  }

  @Test func `every code of a preference has a class, and every class a code`() throws {
    let codes = try Self.codes(of: "PreferencesError")
    #expect(codes.count > 20)
    #expect(codes == Set(PreferencesError.Code.classes.keys))
  }

  @Test func `every code of a vault and of a refresh has a class`() throws {
    let codes = try Self.codes(of: "VaultError")
    #expect(codes == Set(VaultError.Code.all.map(\.rawValue)))
    for code in VaultError.Code.all { #expect(code.failureClass != .unknown, "\(code.rawValue)") }
    let failures = try Self.codes(of: "RefreshFailure")
    #expect(failures.count >= 5)
    #expect(failures.filter { RefreshFailure.Code(rawValue: $0).failureClass == .unknown } == ["recursive"])
  }

  @Test func `the page of errors has the class of each code, and no other`() throws {
    let lines = try Self.text("Docs/Errors.md").split(separator: "\n").map(String.init)
    let rows = Set(lines.filter { $0.hasPrefix("| `") })
    var expected = Set(VaultError.Code.all.map { Self.row($0.rawValue, $0.failureClass) })
    for (code, failure) in PreferencesError.Code.classes { expected.insert(Self.row(code, failure)) }
    for code in try Self.codes(of: "RefreshFailure") {
      expected.insert(Self.row(code, RefreshFailure.Code(rawValue: code).failureClass))
    }
    #expect(rows.symmetricDifference(expected) == [])
  }

  @Test func `the exit codes are those that the format suggests`() throws {
    let format = try Self.text("Docs/Format.md")
    let start = try #require(format.range(of: "\n## 11. Errors\n"))
    let end = try #require(format.range(of: "\n## 12.", range: start.upperBound..<format.endIndex))
    var found = 0
    for line in format[start.upperBound..<end.lowerBound].split(separator: "\n") where line.hasPrefix("| `") {
      let cells = line.split(separator: "|")
      for code in cells[0].matches(of: /`(\w+)/).map({ VaultError.Code(rawValue: String($0.1)) }) {
        guard VaultError.Code.all.contains(code) else { continue }
        found += 1
        let exits = cells[2].matches(of: /\d+/).compactMap { Int32($0.0) }
        #expect(exits.contains(code.failureClass.exitCode), "\(code.rawValue)")
      }
    }
    #expect(found == VaultError.Code.all.count)
  }

  @Test func `the tool ends with the exit code of the class`() {
    for code in VaultError.Code.all {
      #expect(ToolError(thrown: VaultError(code, "")).status.rawValue == code.failureClass.exitCode, "\(code.rawValue)")
    }
    for (name, failure) in PreferencesError.Code.classes {
      let error = ToolError(thrown: PreferencesError(.init(rawValue: name), ""))
      #expect(error.status.rawValue == failure.exitCode, "\(name)")
      let listed = ExitStatus.allCases.filter { $0.codes.contains(error.code) }
      #expect(listed == (failure == .unknown ? [] : [error.status]), "\(name): \(error.code)")
    }
  }

  @Test func `one mistake has one class, whatever module reports it`() {
    for (name, failure) in PreferencesError.Code.classes {
      guard let code = VaultError.Code.all.first(where: { $0.rawValue == name }) else { continue }
      // Of a file, the limit is exceeded by who wrote it; of a value, by the caller.
      if name == "limitExceeded" { continue }
      #expect(code.failureClass == failure, "\(name)")
    }
    #expect(VaultError.Code.invalidName.failureClass == PreferencesError.Code.invalidKey.failureClass)
  }

  @Test func `a failed layer has the class of its error`() {
    let locked = VaultError(.locked, "locked")
    let failure = PreferencesError(.unavailable, "a layer failed", cause: locked).failureClass
    #expect(failure == locked.failureClass)
    #expect(failure.origin == .operator)
    #expect((locked as any Error as? any ClassifiedError)?.failureClass.httpStatus == 503)
  }
}
