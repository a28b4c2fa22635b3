#if ServiceLifecycle
  import Foundation
  import InMemoryLogging
  import Logging
  import PreferencesTestSupport
  import Secrets
  import SecretsTesting
  import Synchronization
  import Testing

  /// Secrets as metadata of log lines, with handlers that print in different ways.
  @Suite(.throwawayVault) struct SecretMetadataTests {}

  extension SecretMetadataTests {
    private struct Login: Codable { var user, password: String }

    /// The text that a stream handler writes.
    private final class Output: TextOutputStream, Sendable {
      private let written = Mutex("")
      var text: String { written.withLock { $0 } }
      func write(_ string: String) { written.withLock { $0 += string } }
    }

    /// A handler that writes lines of JSON, and walks through values that have no JSON form with a mirror.
    private struct JSONLogHandler: LogHandler {
      let output: Output
      var metadata: Logger.Metadata = [:]
      var metadataProvider: Logger.MetadataProvider?
      var logLevel = Logger.Level.trace

      init(_ output: Output) { self.output = output }

      subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
      }

      func log(event: LogEvent) {
        let all = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }
        let line: [String: Any] = ["message": "\(event.message)", "metadata": all.mapValues(Self.json)]
        guard let data = try? JSONSerialization.data(withJSONObject: line) else { return output.write("no JSON") }
        output.write(String(decoding: data, as: UTF8.self) + "\n")
      }

      private static func json(_ value: Logger.MetadataValue) -> Any {
        switch value {
        case .string(let text): text
        case .array(let values): values.map(json)
        case .dictionary(let values): values.mapValues(json)
        case .stringConvertible(let value):
          [
            "text": value.description, "reflecting": String(reflecting: value), "dump": dumped(value),
            "children": Mirror(reflecting: value).children.map { "\($0.label, default: "-"): \($0.value)" },
            "isEncodable": value is any Encodable,
          ]
        }
      }
    }

    /// Everything of the vault that holds or opens a secret and can stand in a log line.
    private static func secrets() throws -> [any CustomStringConvertible & Sendable] {
      let store = try ThrowawayVault.current.preferences(service: service)
      try store.set(Secret(sentinel), forKey: "token")
      try store.set(sentinel, forKey: "text")
      return [
        try Secret(sentinel), try Secret(Data(sentinel.utf8)), try Secret([sentinel]), try Secret(["name": sentinel]),
        try Secret(encoding: Login(user: sentinel, password: sentinel)), store, try store.snapshot(),
        store.vault.health(),
      ]
    }

    /// Logs the values in every way that swift-log has.
    private func log(_ values: [any CustomStringConvertible & Sendable], to handler: some LogHandler) {
      var handler = handler
      handler.metadataProvider = Logger.MetadataProvider { ["provided": "\(values)"] }
      var logger = Logger(label: "test") { [handler] _ in handler }
      logger.logLevel = .trace
      logger[metadataKey: "bound"] = .array(values.map { .stringConvertible($0) })
      for value in values {
        logger[metadataKey: "bound.value"] = .stringConvertible(value)
        logger.info("\(value)", metadata: ["interpolated": "\(value)", "described": .string(value.description)])
        logger.info(
          "a line", metadata: ["convertible": .stringConvertible(value), "reflecting": "\(String(reflecting: value))"])
        let list: Logger.MetadataValue = ["\(value)", .stringConvertible(value)]
        logger.info("a line", metadata: ["list": list, "tree": ["a": ["b": list]]])
        logger.info("a line", metadata: ["attributed": .attributed(value, attributes: .init())])
        let optional = Optional(value)
        logger.info("a line", metadata: ["optional": "\(optional, default: "none")", "dump": "\(dumped(value))"])
      }
    }

    @Test func `handlers in memory, of streams and of JSON print no secret`() throws {
      let (journal, stream, json) = (Journal(), Output(), Output())
      let values = try Self.secrets()

      log(values, to: journal.handler)
      log(values, to: StreamLogHandler(label: "test", stream: stream, metadataProvider: nil))
      log(values, to: JSONLogHandler(json))

      for text in [journal.text, stream.text, json.text] {
        #expect(text.contains("<redacted>"))
        #expect(!text.contains(sentinel))
        #expect(!text.contains("no JSON"))
        #expect(!text.contains(Data(sentinel.utf8).base64EncodedString()))
      }
    }

    @Test func `a secret stands in metadata as redacted, in each of its forms`() throws {
      let secret = try Secret(sentinel)

      #expect(Logger.MetadataValue.stringConvertible(secret).description == "<redacted>")
      #expect(("\(secret)" as Logger.MetadataValue) == .string("<redacted>"))
      #expect(Logger.MetadataValue.attributed(secret, attributes: .init()).description == "<redacted>")
      #expect(!(secret as Any is any Encodable))
    }
  }
#endif
