import Foundation

/// A directory of logs with its manifest, in the format of `Vectors/logs/README.md`.
struct LogVectorManifest: Decodable {
  let logs: [Log]?
  let marks: [Mark]?
  let deviceKey: String?

  enum CodingKeys: String, CodingKey { case logs, marks, deviceKey = "device_key" }

  /// A vault, the files of a log, and what a verification finds.
  struct Log: Decodable, Sendable, CustomStringConvertible {
    let name: String
    let file: String
    let credential: VectorManifest.Attempt.Secret
    let group: String
    /// Suffix and file of each.
    let logs: [[String]]
    let mark: String?
    let exit: String
    let findings: [Finding]
    let events: [Event]?

    var description: String { name }
  }

  struct Finding: Decodable, Sendable, Hashable, CustomStringConvertible {
    let code: String
    let first: UInt64
    let last: UInt64
    let verdict: String
    let acknowledged: Bool

    var description: String { "\(code) \(first)–\(last) \(verdict)\(acknowledged ? " acknowledged" : "")" }
  }

  struct Event: Decodable, Sendable, Equatable {
    let number: UInt64
    let time: Int64
    let action: UInt8
    let uid: UInt32
    let pid: Int32
    let slot: String
    let lost: UInt64
    let program: String
    let service: String
    let key: String
  }

  /// A vault and a mark.
  struct Mark: Decodable, Sendable, CustomStringConvertible {
    let name: String
    let file: String
    let credential: VectorManifest.Attempt.Secret
    let mark: String
    let error: String?

    var description: String { name }
  }

  init(directory: URL) throws {
    let data = try Data(contentsOf: directory.appending(path: "manifest.json"))
    self = try JSONDecoder().decode(LogVectorManifest.self, from: data)
  }
}
