import Foundation
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

extension SharedVault {
  var markDirectory: String { path + ".marks" }
  /// In a directory of its own.
  var mark: String { markDirectory + "/mark" }
  var markText: String { get throws { String(decoding: try FileBytes.read(mark), as: UTF8.self) } }

  /// A shared vault and a mark of it that an owner made.
  static func withMark(_ body: (SharedVault) throws -> Void) throws {
    try with { shared in
      try shared.owner.createMark(at: shared.mark)
      try body(shared)
    }
  }

  func options(_ seed: String) -> Vault.Options {
    var options = Vault.Options.sample(seed: seed)
    options.markPath = mark
    return options
  }

  /// Another handle of the owner, which checks and raises the mark.
  func markedOwner(
    at mark: String? = nil, seed: String = "marked owner", raising: Bool = true
  ) throws -> Vault {
    var options = options(seed)
    options.markPath = mark ?? self.mark
    options.raisesMark = raising
    return try Vault.opened(at: path, options: options)
  }

  func markedHolder(of group: String) throws -> Vault {
    try Vault.open(in: stored(path), credential: credential(of: group), options: options("marked " + group))
  }

  /// Puts another vault in the vault's place: of a file, another file.
  func putInPlace(_ bytes: [UInt8]) throws {
    guard try stored(path) is FileStorage else { return try VaultBytes.write(bytes, to: path) }
    try FileBytes.write(bytes, to: path + ".other")
    try #require(rename(path + ".other", path) == 0)
  }
}

extension Parts {
  /// The file without its newest write.
  var withoutLastEntry: [UInt8] {
    var parts = self
    parts.entries.removeLast()
    return parts.file
  }
}
