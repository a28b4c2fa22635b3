import Foundation
import Secrets
import Testing
import VaultMemorySearching
import VaultSealing

@testable import secretprefs

/// `find --value -`, `generate --print` and `otp` on a terminal.
struct EverydayTerminalTests {
  @Test func `the value to find is typed without echo`() throws {
    let scene = try PromptTests.Scene()
    let running = try scene.start("find", "--value", "-")
    try scene.terminal.wait(for: "default.spv: ")
    try scene.terminal.wait(forEcho: false)
    scene.terminal.type(PromptTests.passphrase + "\n")
    try scene.terminal.wait(for: "Value: ")
    try scene.terminal.wait(forEcho: false)
    scene.terminal.type("s3cret\n")
    let outcome = try running.wait()
    #expect(outcome.exit == 0)
    #expect(outcome.text == "key\n")
    scene.terminal.look()
    #expect(!scene.terminal.shown.contains("s3cret"))
  }

  @Test func `a terminal that may not be asked is a usage error before the vault is opened`() throws {
    let scene = try PromptTests.Scene()
    let outcome = try scene.start("find", "--value", "-", "--no-prompt").wait()
    #expect(outcome.exit == 64)
    #expect(
      outcome.errorText.hasSuffix("hint: use standard input or a prompt: secretprefs find --value - < value.txt\n"))
  }

  @Test func `a printed password has a line of its own, and its strength is a note`() throws {
    let scene = try PromptTests.Scene()
    let running = try Running(
      ["/bin/sh", "-c", "secretprefs generate new --print >/dev/tty 2>&1"], in: scene.home, input: scene.terminal.path)
    try scene.terminal.wait(for: "default.spv: ")
    try scene.terminal.wait(forEcho: false)
    scene.terminal.type(PromptTests.passphrase + "\n")
    #expect(try running.wait().exit == 0)
    scene.terminal.look()
    let got = try Tool.shell("secretprefs get new --passphrase-fd 3 3< passphrase", in: scene.home)
    #expect(scene.terminal.shown.hasSuffix("\r\n\(got.text)\r\nsecretprefs: note: 149 bits\r\n"))
  }

  @Test func `how long a code is valid is a note, for codes of the time alone`() throws {
    let scene = try PromptTests.Scene()
    let running = try Running(
      [
        "/bin/sh", "-c",
        """
        for type in totp hotp; do
          printf "otpauth://$type/a?secret=AAAA&counter=0" | secretprefs set $type --passphrase-fd 3 3< passphrase
          secretprefs otp $type --passphrase-fd 3 3< passphrase >/dev/tty 2>&1
        done
        """,
      ], in: scene.home, input: scene.terminal.path)
    #expect(try running.wait().exit == 0)
    scene.terminal.look()
    #expect(
      scene.terminal.shown.wholeMatch(
        of: /[0-9]{6}\r\nsecretprefs: note: valid for ([1-9]|[12][0-9]|30) s\r\n[0-9]{6}\r\n/) != nil)
  }

  @Test func `text on a terminal has no colours, whatever is asked for`() throws {
    let scene = try PromptTests.Scene()
    let running = try Running(
      [
        "/bin/sh", "-c",
        """
        export TERM=xterm-256color CLICOLOR_FORCE=1 FORCE_COLOR=1
        for words in help 'list --tree' status doctor 'info key' 'list --unknown' 'get missing'; do
          secretprefs $words --passphrase-fd 3 3< passphrase >/dev/tty 2>&1
          NO_COLOR=1 secretprefs $words --passphrase-fd 3 3< passphrase >/dev/tty 2>&1
        done
        """,
      ], in: scene.home, input: scene.terminal.path)
    // Once for each of the two environments.
    try scene.terminal.wait(for: "there is no such key", times: 2)
    _ = try running.wait()
    #expect(!scene.terminal.shown.contains("\u{1B}"))
  }

  @Test func `a generated password is in guarded memory alone`() throws {
    let search = MemorySearch()
    let rule = try PasswordRule(length: 64, noUppercase: false, noDigits: false, noSymbols: false, noSimilar: false)
    let password = Kept(try rule.password(from: .system))
    try search.note { search in password.bytes.withUnsafeBytes { search.add("password", $0) } }
    let finds = try search.finds()
    withExtendedLifetime(password) {}
    #expect(!finds.isEmpty)
    // Such memory is left out of core files.
    for find in finds { #expect(Mapping.flags(at: find.address).contains("dd"), "\(find)") }
  }
}

/// Lets a closure of a different thread read the bytes.
final class Kept: Sendable {
  let bytes: SecretBytes
  init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}
