import Foundation
import Secrets
import Synchronization
import Testing

@testable import secretprefs

struct ProgressLineTests {
  /// A clock that is set by hand, and what was written.
  private final class Scene: Sendable {
    private let start = ContinuousClock.now
    private let state = Mutex((elapsed: Duration.zero, written: [String]()))

    var written: [String] { state.withLock(\.written) }

    func pass(_ duration: Duration) { state.withLock { $0.elapsed += duration } }

    /// - Parameter tick: how much later it is after each look at the clock.
    func line(_ verb: String, tick: Duration = .zero) -> ProgressLine {
      ProgressLine(
        verb,
        now: { [self] in
          state.withLock { state in
            defer { state.elapsed += tick }
            return start + state.elapsed
          }
        },
        write: { [self] text in state.withLock { $0.written.append(text) } })
    }
  }

  @Test func `work of less than a second shows nothing`() {
    let scene = Scene()
    let line = scene.line("verifying")
    for done in 1...100 {
      line.show(done * 1000, of: 100_000)
      scene.pass(.milliseconds(9))
    }
    #expect(scene.written.isEmpty)
  }

  @Test func `the second counts from the first step, and then a line comes ten times a second at most`() {
    let scene = Scene()
    let line = scene.line("verifying")
    scene.pass(.seconds(60))
    line.show(1000, of: 1_048_576)
    scene.pass(.seconds(1))
    line.show(2000, of: 1_048_576)
    scene.pass(.milliseconds(99))
    line.show(3000, of: 1_048_576)
    scene.pass(.milliseconds(1))
    line.show(4000, of: 1_048_576)
    #expect(scene.written == ["verifying 2,000 of 1,048,576\r", "verifying 4,000 of 1,048,576\r"])
  }

  @Test func `the last step takes the line away, once`() {
    let scene = Scene()
    do {
      let line = scene.line("rotating", tick: .seconds(1))
      for done in 1...3 { line.show(done, of: 3) }
    }
    #expect(scene.written == ["rotating 2 of 3\r", "               \r"])
  }

  @Test func `work that fails removes the line when it is released`() {
    let scene = Scene()
    do {
      let line = scene.line("rotating", tick: .seconds(1))
      for done in 1...2 { line.show(done, of: 3) }
      #expect(scene.written == ["rotating 2 of 3\r"])
    }
    #expect(scene.written.last == "               \r")
  }

  @Test(
    arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (40_000, "40,000"), (1_048_576, "1,048,576")]
      as [(Int, String)])
  func `every three digits are separated by a comma`(_ number: Int, _ text: String) { #expect(grouped(number) == text) }

  @Test(arguments: ["verifying", "rotating"]) func `the vault reports its progress`(_ verb: String) throws {
    let home = try Scratch()
    try #require(Tool.run(["init", "--vault", "v.spv", "--key-file", "k"], in: home).exit == 0)
    let scene = Scene()
    var access = try VaultAccess(try VaultLocation(option: home.file("v.spv")))
    access.keyFile = home.file("k")
    access.progress = scene.line(verb, tick: .seconds(1))
    let vault = try access.open(Messages(isJSON: false))
    let group = try vault.group(named: "default")
    try vault.transaction(service: try Vault.Name("default"), in: group) { (batch) throws(VaultError) in
      for index in 0..<2500 {
        try batch.set([UInt8]().span.bytes, kind: .data, forKey: "\(index)")
      }
    }
    #expect(scene.written.isEmpty)
    if verb == "verifying" { _ = try vault.verify() } else { try vault.rotate(group) }
    let line = "\(verb) 2,000 of 2,500"
    #expect(scene.written == [line + "\r", String(repeating: " ", count: line.count) + "\r"])
  }

  @Test func `a terminal shows nothing of short work`() throws {
    let home = try Scratch()
    let terminal = try PseudoTerminal()
    let running = try Running(
      [
        "/bin/sh", "-c",
        "exec 2> /dev/tty; secretprefs init --key-file k && secretprefs verify --key-file k && "
          + "secretprefs rotate --vault-keys --key-file k && echo done >&2",
      ], in: home, input: terminal.path)
    #expect(try running.wait().exit == 0)
    try terminal.wait(for: "done")
    #expect(terminal.shown == "done\r\n")
  }
}
