import Foundation
import Testing

struct OutputFileTests {
  @Test(arguments: [
    "inject --in template --out -", "export --to -", "backup -", "new-key -", "init --vault - --key-file new",
    "init --vault new.spv --key-file -", "init --vault new.spv --key-file new --mark -", "mark init --mark -",
    "salvage --to -", "bundle export --all --to - --new-key-file new", "requests list --folder -",
    "inject --in -", "set token --file -", "check -", "run --env-file - -- true",
    "get token --key-file -", "list --identity -", "get token --device-key-file -", "list --mark -",
    "rotate --vault-keys --keep-key-file -", "bundle import b --bundle-key-file -", "requests add --identity -",
    "identity show -", "identity key -",
  ])
  func `a hyphen is no path, and no file has that name`(_ command: String) throws {
    let home = try RunTests.prepared()
    try home.write("text", to: "template")
    let outcome = try Tool.shell("export SECRETPREFS_KEY_FILE=k; secretprefs \(command) < template", in: home)
    #expect(outcome.exit == 64)
    #expect(outcome.errorText.contains(" is -, and must be a path\n"), "\(outcome.errorText)")
    #expect(!FileManager.default.fileExists(atPath: home.file("-")))
    #expect(!FileManager.default.fileExists(atPath: home.file("new")))
  }
}
