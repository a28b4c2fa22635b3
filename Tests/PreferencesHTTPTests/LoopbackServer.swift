#if HTTP
  import Foundation
  import Glibc
  import Synchronization

  /// A web server on 127.0.0.1 that sends exactly the given bytes, complete HTTP or not.
  final class LoopbackServer: Sendable {
    struct Request: Sendable {
      var path: String
      /// By lower-case names.
      var headers: [String: String]
    }

    /// The connection of one request, closed when the closure returns.
    struct Connection: Sendable {
      fileprivate let socket: CInt

      /// - Returns: false if the client has closed the connection.
      @discardableResult
      func send(_ bytes: some Sequence<UInt8>) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
          let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
          guard count > 0 else { return false }
          rest = rest.dropFirst(count)
        }
        return true
      }

      @discardableResult
      func send(_ text: String) -> Bool { send(text.utf8) }

      /// Returns when the client has closed its end.
      func waitForClose() {
        var byte: UInt8 = 0
        while recv(socket, &byte, 1, 0) > 0 {}
      }
    }

    typealias Answer = @Sendable (Request, Connection) -> Void

    let port: UInt16
    private let socket: CInt
    private let received = Mutex<[Request]>([])

    /// The requests that have come, in order.
    var requests: [Request] { received.withLock(\.self) }

    init(_ answer: @escaping Answer) throws {
      let socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isListening = withUnsafeMutablePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          bind(socket, address, length) == 0 && listen(socket, 128) == 0 && getsockname(socket, address, &length) == 0
        }
      }
      (self.socket, port) = (socket, UInt16(bigEndian: address.sin_port))
      guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
      Thread.detachNewThread { [weak self] in
        // Ends when the server is deallocated, which shuts the socket down.
        while case let client = accept(socket, nil, nil), client >= 0 {
          let server = self
          Thread.detachNewThread {
            if let request = Self.readRequest(client) {
              server?.received.withLock { $0.append(request) }
              answer(request, Connection(socket: client))
            }
            Self.hangUp(client)
          }
        }
        close(socket)
      }
    }

    /// Sends the same bytes for every request.
    convenience init(_ bytes: some Sequence<UInt8> & Sendable) throws {
      let bytes = Array(bytes)
      try self.init { _, connection in connection.send(bytes) }
    }

    convenience init(_ text: String) throws { try self.init(text.utf8) }

    deinit { shutdown(socket, CInt(SHUT_RDWR)) }

    func url(_ path: String = "/") -> URL { URL(string: "http://127.0.0.1:\(port)\(path)")! }

    /// A response with a status and a body of a length.
    static func response(_ status: Int = 200, _ fields: [String] = [], _ body: String = "") -> String {
      let lines = ["HTTP/1.1 \(status) Received", "Content-Length: \(body.utf8.count)"] + fields
      return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    private static func readRequest(_ client: CInt) -> Request? {
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 4_096)
      while !bytes.reversed().starts(with: "\n\r\n\r".utf8) {
        let count = recv(client, &chunk, chunk.count, 0)
        guard count > 0 else { return nil }
        bytes += chunk[..<count]
      }
      let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
      let words = lines[0].split(separator: " ")
      guard words.count == 3, words[0] == "GET" else { return nil }
      var headers: [String: String] = [:]
      for line in lines.dropFirst() where line.contains(":") {
        let parts = line.split(separator: ":", maxSplits: 1)
        headers[parts[0].lowercased()] = parts.dropFirst().joined().trimmingCharacters(in: .whitespaces)
      }
      return Request(path: String(words[1]), headers: headers)
    }

    /// Ends the response before the connection: closing with bytes unread would discard what is on its way.
    private static func hangUp(_ client: CInt) {
      shutdown(client, CInt(SHUT_WR))
      Connection(socket: client).waitForClose()
      close(client)
    }
  }
#endif
