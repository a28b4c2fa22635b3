import Foundation

/// A directory of vector files with its manifest, in the format of `Vectors/README.md` and `Vectors/faults/README.md`.
struct VectorManifest: Decodable {
  let vectors: [Vector]
  let deviceKey: String?

  enum CodingKeys: String, CodingKey { case vectors, deviceKey = "device_key" }

  struct Vector: Decodable, CustomStringConvertible {
    let file: String
    let noKey: NoKey
    let open: [Attempt]

    enum CodingKeys: String, CodingKey { case file, open, noKey = "no_key" }

    var description: String { file }
  }

  struct NoKey: Decodable, Equatable {
    var ok: Bool?
    var entries: Int?
    var tornTail: Bool?
    var error: String?

    enum CodingKeys: String, CodingKey { case ok, entries, error, tornTail = "torn_tail" }
  }

  struct Attempt: Decodable {
    let credential: Secret
    let expect: Expectation
    /// In place of the manifest's; `none` for no key at all.
    let deviceKey: String?
    /// The error class of looking up each of these groups by name.
    let refusedGroups: [String: String]?

    enum CodingKeys: String, CodingKey {
      case credential, expect, deviceKey = "device_key", refusedGroups = "refused_groups"
    }

    struct Secret: Decodable { let passphrase, key, identity, pin: String? }
  }

  struct Expectation: Decodable, Equatable {
    var error: String?
    var owner: Bool?
    var generation: UInt64?
    var entries: Int?
    var tornTail: Bool?
    var groups: [String: Group]?

    enum CodingKeys: String, CodingKey {
      case error, owner, entries, groups, generation = "vault_generation", tornTail = "torn_tail"
    }
  }

  struct Group: Decodable, Equatable {
    let epoch: UInt32
    let generation: UInt64
    let tag: String
    let records: [Record]
    var removed: [Removed]?
  }

  struct Removed: Decodable, Equatable {
    var service: Text
    var key: Text
    var `class`: UInt8
    var revision: UInt64
    var created: Int64
    var removed: Int64
    var keptUntil: Int64
    var previous: [Previous]?
    var previousError: String?
    var `extension`: [ExtensionItem]?

    enum CodingKeys: String, CodingKey {
      case service, key, `class`, revision, created, removed, previous, `extension`
      case keptUntil = "kept_until"
      case previousError = "previous_error"
    }
  }

  struct Record: Decodable, Equatable {
    var service: Text
    var key: Text
    var kind: UInt8
    var `class`: UInt8
    var revision: UInt64
    var created: Int64
    var modified: Int64
    var text: Text?
    var hex: String?
    var error: String?
    var previous: [Previous]?
    var previousError: String?
    var `extension`: [ExtensionItem]?

    enum CodingKeys: String, CodingKey {
      case service, key, kind, `class`, revision, created, modified, text, hex, error, previous, `extension`
      case previousError = "previous_error"
    }
  }

  struct Previous: Decodable, Equatable {
    let revision: UInt64
    let modified: Int64
    let kind: UInt8
    let text: Text?
    let hex: String?
  }

  /// A text that is compared byte for byte, which strings are not.
  struct Text: Decodable, Equatable, CustomStringConvertible, CustomReflectable {
    let utf8: [UInt8]

    init(utf8: [UInt8]) { self.utf8 = utf8 }

    init(from decoder: any Decoder) throws {
      utf8 = Array(try decoder.singleValueContainer().decode(String.self).utf8)
    }

    var description: String { String(decoding: utf8, as: UTF8.self) }
    var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
  }

  struct ExtensionItem: Decodable, Equatable {
    let tag: UInt16
    let hex: String

    init(tag: UInt16, hex: String) {
      self.tag = tag
      self.hex = hex
    }

    init(from decoder: any Decoder) throws {
      var items = try decoder.unkeyedContainer()
      (tag, hex) = (try items.decode(UInt16.self), try items.decode(String.self))
    }
  }

  init(directory: URL) throws {
    let data = try Data(contentsOf: directory.appending(path: "manifest.json"))
    self = try JSONDecoder().decode(VectorManifest.self, from: data)
  }
}
