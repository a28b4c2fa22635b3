import DurableFiles
import Foundation
import Testing

@testable import secretprefs

/// Requests that git does not make.
struct GitRequestTests {
  private static let canary = TranscriptTests.canary
  private static let login = "protocol=https\nhost=a.example\nusername=u\npassword=\(canary)\n"

  private struct Sample: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let request: [UInt8]
    let error: String

    init(_ description: String, _ request: String, _ error: String) {
      (testDescription, self.request, self.error) = (description, Array(request.utf8), error)
    }
  }

  private static let samples = [
    Sample("cut off in a value", String(login.dropLast(3)), "is cut off"),
    Sample("cut off in a name", login + "pa", "is cut off"),
    Sample("carriage returns", login.replacing("\n", with: "\r\n"), "has a carriage return or NUL byte"),
    Sample("a lone carriage return", login + "path=a\rhost=b\n", "has a carriage return or NUL byte"),
    Sample("one in what is ignored", login + "wwwauth[]=Basic\rx\n", "has a carriage return or NUL byte"),
    Sample("a NUL", login + "path=a\0b\n", "has a carriage return or NUL byte"),
    Sample("an escape sequence", login + "username=\u{1B}[2J\n", "has a control character in username"),
    Sample("a tab", login + "host=a\tb\n", "has a control character in host"),
    Sample("no equals sign", login + "\(canary)\n", "has a line without ="),
    Sample("blanks before the blank line", login + " \n", "has a line without ="),
    Sample(
      "a long line", login + "path=" + String(repeating: "x", count: 65_530) + "\n", "has a line of more than 65535"),
    Sample(
      "a long ignored line", login + "x=" + String(repeating: "x", count: 1 << 20) + "\n", "has a line of more than"),
    Sample("many lines", login + String(repeating: "wwwauth[]=x\n", count: 400_000), "has more than 4194304 bytes"),
    Sample("no time", login + "password_expiry_utc=\(canary)\n", "has a password_expiry_utc that is not a time"),
    Sample("a time below zero", login + "password_expiry_utc=-1\n", "has a password_expiry_utc that is not a time"),
    Sample(
      "a time beyond all times", login + "password_expiry_utc=9999999999999999999\n",
      "has a password_expiry_utc that is not a time"),
  ]

  @Test func `a request that is not in order is an error without content, and nothing changes`() throws {
    let scene = try HelperScene()
    #expect(try scene.git("store", "protocol=https\nhost=a.example\nusername=v\npassword=\(Self.canary)\n").exit == 0)
    let before = try scene.exchange.file
    for (index, sample) in Self.samples.enumerated() {
      let operation = sample.error.contains("_expiry") ? "store" : ["store", "get", "erase"][index % 3]
      let outcome = try scene.run("git-credential-secretprefs \(operation)", sample.request)
      #expect(outcome.exit == 65 && outcome.output.isEmpty, "\(sample)")
      #expect(outcome.errorText.contains("the request " + sample.error), "\(sample): \(outcome.errorText)")
      #expect(!outcome.errorText.contains(Self.canary), "\(sample)")
    }
    #expect(try scene.exchange.file == before)
  }

  @Test func `each byte of a request is searched for its end once`() throws {
    let (input, output) = try #require(ChildProcess.pipe())
    let writer = Thread {
      for part in 0..<100 {
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: part), count: 997)
        _ = write(output, bytes, bytes.count)
        usleep(1000)
      }
      close(output)
    }
    writer.start()
    var searched = 0
    _ = try ValueReader.read(input, atMost: 1 << 20, "read") { bytes, seen in
      searched += bytes.count - seen
      return false
    }
    close(input)
    #expect(searched == 99_700)
  }

  @Test(arguments: ["\n", "host=a\n\n", "host=a\nprotocol=b\n\n"])
  func `a request ends with an empty line, wherever a read ends, and the rest is left unread`(_ text: String) throws {
    let scene = try HelperScene()
    try scene.exchange.home.write(text, to: "q")
    // The pipe stays open for writing.
    let outcome = try scene.exchange.shell(
      """
      mkfifo pipe; exec 3<>pipe; dd bs=1 if=q >&3 2>errors &
      timeout 30 secretprefs git-credential get <&3
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
  }

  @Test func `a part of a request changes nothing`() throws {
    let scene = try HelperScene()
    let before = try scene.exchange.file
    let request = Array(Self.login.utf8)
    for length in Array(stride(from: 0, to: request.count, by: 9)) + [request.count - 1] {
      let outcome = try scene.run("git-credential-secretprefs store", Array(request.prefix(length)))
      #expect([0, 65].contains(outcome.exit) && outcome.output.isEmpty, "\(length)")
    }
    for _ in 0..<5 {
      let noise = (0..<300).map { _ in UInt8.random(in: 0...255) }
      #expect(try scene.run("git-credential-secretprefs store", noise).output.isEmpty)
    }
    #expect(try scene.exchange.file == before)
  }

  @Test func `later values count, and what comes after the empty line does not`() throws {
    let scene = try HelperScene()
    let request = "host=b.example\n" + Self.login + "username=v\n\nusername=w\n\(Self.canary)"
    #expect(try scene.git("store", request).exit == 0)
    #expect(try scene.texts("git") == ["https://v@a.example": Self.canary])
  }

  @Test func `bytes that are not UTF-8 are kept`() throws {
    let scene = try HelperScene()
    let (host, login) = (Array("protocol=https\nhost=a\n".utf8), Array("username=".utf8) + [0xFF, 0xC3, 0x0A])
    let password = Array("password=".utf8) + [0xE9, 0x80, 0x0A]
    #expect(try scene.run("git-credential-secretprefs store", host + login + password).exit == 0)
    #expect(try scene.run("git-credential-secretprefs get", host).output == Data(login + password))
    #expect(try Array(scene.exchange.values(service: "git").keys) == ["https://%FF%C3@a"])
  }

  @Test(arguments: ["/a", "a/", "/", "///", "//a//b/", "a//b"])
  func `a password for any path is found under its key`(_ path: String) throws {
    let login = GitLogin(
      scheme: Array("https".utf8), host: Array("a.example".utf8), path: Array(path.utf8), username: Array("u".utf8))
    #expect(GitLogin(key: login.key) == login, "\(login.key)")
  }

  @Test func `attributes of later versions of git are ignored`() throws {
    let scene = try HelperScene()
    let long = "wwwauth[]=" + String(repeating: "x", count: 60_000) + "\n"
    let later =
      "capability[]=authtype\ncapability[]=state\nstate[]=x\ncontinue=1\n" + String(repeating: long, count: 20)
      + "wwwauth[]=Basic realm=\"\ta\"\n=x\n"
    #expect(try scene.git("store", later + Self.login + later).exit == 0)
    #expect(
      try scene.git("get", later + "protocol=https\nhost=a.example\n").text == "username=u\npassword=\(Self.canary)\n")
  }

  @Test(arguments: ["'a\\nhost=b'", "'a\\rb'", "'a\\000b'", "'a\\033[2Jb'", "%65527s"])
  func `a stored value that git could not read as one line is not given`(_ value: String) throws {
    let scene = try HelperScene()
    let stored = try scene.run("printf \(value) x | secretprefs set --data --service git https://u@a.example")
    try #require(stored.exit == 0, "\(stored.errorText)")
    let outcome = try scene.git("get", "protocol=https\nhost=a.example\n")
    #expect(outcome.exit == 1 && outcome.output.isEmpty)
    #expect(outcome.errorText.hasPrefix("secretprefs: error: the stored password cannot be given to git\n"))
  }

  @Test func `a user name in a key that would add a line is not given`() throws {
    let scene = try HelperScene()
    #expect(try scene.run("printf x | secretprefs set --service git https://u%0Ahost@a.example").exit == 0)
    let outcome = try scene.git("get", "protocol=https\nhost=a.example\n")
    #expect(outcome.exit == 1 && outcome.output.isEmpty)
  }

  @Test func `keys that are no logins are passed over`() throws {
    let scene = try HelperScene()
    try scene.exchange.store(
      [
        "https://u@b.example:x@a.example": [], "https://u@a.example#x": [], "https://u#@a.example": [],
        "a.example": [], "https://a.example": [], "https://u%4@a.example": [], "://u@a.example": [],
      ], service: "git")
    let outcome = try scene.git("get", "protocol=https\nhost=a.example\n")
    #expect(outcome.exit == 0 && outcome.output.isEmpty && outcome.errors.isEmpty)
  }

  @Test func `the answer comes at the empty line, though the pipe stays open`() throws {
    let scene = try HelperScene()
    #expect(try scene.git("store", Self.login).exit == 0)
    let outcome = try scene.run(
      "mkfifo p; exec 4<>p; printf 'protocol=https\\nhost=a.example\\n\\n' >&4; git-credential-secretprefs get <p")
    #expect(outcome.text == "username=u\npassword=\(Self.canary)\n")
  }

  @Test func `helpers that store at once lose nothing`() throws {
    let scene = try HelperScene()
    let outcome = try scene.run(
      """
      for n in 1 2 3 4 5 6 7 8; do
        printf 'protocol=https\\nhost=a\\nusername=u'$n'\\npassword=p\\n' | git-credential-secretprefs store &
        printf 'protocol=https\\nhost=a\\nusername=same\\npassword='$n'\\n' | git-credential-secretprefs store &
      done
      wait
      """)
    #expect(outcome.errors.isEmpty)
    #expect(try scene.texts("git").count == 9)
  }
}
