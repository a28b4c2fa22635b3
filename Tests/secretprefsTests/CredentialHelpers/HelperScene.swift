import Foundation
import Testing

/// A vault, and links to the tool under the names that git and docker start.
struct HelperScene {
  static let hasGit = (try? Tool.shell("git --version", in: try Scratch()).exit) == 0

  let exchange: ExchangeScene
  var home: Scratch { exchange.home }

  init() throws {
    exchange = try ExchangeScene()
    for name in ["git-credential-secretprefs", "docker-credential-secretprefs"] {
      try FileManager.default.createSymbolicLink(atPath: home.file(name), withDestinationPath: Tool.path)
    }
  }

  /// Has git's helper answer a request.
  func git(_ operation: String, _ request: String) throws -> Tool.Outcome {
    try run("git-credential-secretprefs \(operation)", Array(request.utf8))
  }

  /// Has docker's helper answer a request.
  func docker(_ action: String, _ request: String) throws -> Tool.Outcome {
    try run("docker-credential-secretprefs \(action)", Array(request.utf8))
  }

  /// Runs a line of shell in which the links are programs, with `request` as standard input.
  func run(_ line: String, _ request: [UInt8] = []) throws -> Tool.Outcome {
    try exchange.write(request, to: "request")
    return try exchange.shell("PATH=$PWD:$PATH; exec <request; " + line)
  }

  func texts(_ service: String) throws -> [String: String] { try exchange.texts(service: service) }
}
