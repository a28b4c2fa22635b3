#if PostgreSQL
  import Foundation
  import Glibc
  import Synchronization
  import VaultCore

  /// Relays connections to the test server through a socket of its own, and cuts them on demand.
  final class CuttingProxy: Sendable {
    enum Direction { case toServer, toClient }

    private struct State {
      var cut: (direction: Direction, left: Int)?
      var isCut = false
      var isClosed = false
      var pause: useconds_t = 0
      var count = 0
      var open: [Int32: Int32] = [:]
    }

    /// The folder of the socket, for a URL.
    let folder: String
    private let target: String
    private let listener: Int32
    private let state = Mutex(State())

    init() throws {
      var template = Array("/dev/shm/pgx-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil, let server = TestServer.folder else { throw VaultError(.io, "mkdtemp") }
      folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      target = server + "/.s.PGSQL.5432"
      listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      let isBound = Self.withAddress(folder + "/.s.PGSQL.5432") { [listener] in bind(listener, $0, $1) }
      guard isBound == 0, listen(listener, 32) == 0 else { throw VaultError(.io, "bind") }
      Thread.detachNewThread { [self] in accept() }
    }

    /// Ends the proxy and removes its folder. The thread that accepts keeps the object alive until then.
    func end() {
      refuseAll()
      unlink(folder + "/.s.PGSQL.5432")
      rmdir(folder)
      shutdown(listener, Int32(SHUT_RDWR))
    }

    /// The number of bytes that were relayed.
    var count: Int { state.withLock(\.count) }
    /// Whether a connection was cut since ``cut(_:after:)``.
    var isCut: Bool { state.withLock(\.isCut) }

    /// Cuts the connection that relays the next bytes, after `count` of them in one direction. Later ones are relayed.
    func cut(_ direction: Direction, after count: Int) {
      state.withLock { state in
        state.cut = (direction, count)
        state.isCut = false
      }
    }

    /// Pauses before each part that is relayed to the server.
    func slow(_ microseconds: useconds_t) { state.withLock { $0.pause = microseconds } }

    func relayAll() {
      state.withLock { state in
        state.cut = nil
        state.isClosed = false
      }
    }

    /// Cuts all connections and relays no others.
    func refuseAll() {
      state.withLock { state in
        state.isClosed = true
        for (client, server) in state.open {
          shutdown(client, Int32(SHUT_RDWR))
          shutdown(server, Int32(SHUT_RDWR))
        }
      }
    }

    private static func withAddress<R>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
      return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    }

    private func accept() {
      while true {
        let client = Glibc.accept(listener, nil, nil)
        if client < 0 { break }
        let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let isClosed = state.withLock { state in
          if !state.isClosed { state.open[client] = server }
          return state.isClosed
        }
        guard !isClosed, Self.withAddress(target, { connect(server, $0, $1) }) == 0 else {
          state.withLock { _ = $0.open.removeValue(forKey: client) }
          Glibc.close(client)
          Glibc.close(server)
          continue
        }
        Thread.detachNewThread { [self] in relay(client, server) }
      }
      Glibc.close(listener)
    }

    /// Relays both directions of a connection, on one thread, until an end is closed or cut.
    private func relay(_ client: Int32, _ server: Int32) {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      loop: while true {
        var entries = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&entries, 2, -1) > 0 else { continue }
        for (entry, direction) in zip(entries, [Direction.toServer, .toClient]) where entry.revents != 0 {
          if direction == .toServer { usleep(state.withLock(\.pause)) }
          let count = read(entry.fd, &buffer, buffer.count)
          guard count > 0 else { break loop }
          let allowed = state.withLock { state -> Int in
            state.count += count
            guard let cut = state.cut, cut.direction == direction else { return count }
            state.cut = (direction, cut.left - count)
            guard cut.left < count else { return count }
            state.cut = nil
            state.isCut = true
            return cut.left
          }
          var sent = 0
          while sent < allowed {
            let more = buffer.withUnsafeBytes {
              send(
                direction == .toServer ? server : client, $0.baseAddress! + sent, allowed - sent,
                Int32(MSG_NOSIGNAL))
            }
            guard more > 0 else { break loop }
            sent += more
          }
          if allowed < count { break loop }
        }
      }
      state.withLock { _ = $0.open.removeValue(forKey: client) }
      Glibc.close(client)
      Glibc.close(server)
    }
  }
#endif
