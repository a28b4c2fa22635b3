import AsyncHTTPClient
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import Synchronization

/// A process that runs one of the built programs, and what it has written.
final class Program: @unchecked Sendable {
  /// Where the programs are that were built with this test.
  static let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path

  private let process = Process()
  private let logPath: String
  private let port = Mutex(0)

  var url: String { "http://127.0.0.1:\(port.withLock { $0 })" }

  init(
    _ name: String, _ arguments: [String], _ environment: [String: String], _ directory: String, input: String? = nil
  ) throws {
    logPath = "\(directory)/\(UUID()).log"
    try Data().write(to: URL(fileURLWithPath: logPath))
    process.executableURL = URL(fileURLWithPath: name.hasPrefix("/") ? name : Self.folder + "/" + name)
    process.arguments = arguments
    process.environment = environment.merging(["SWIFT_BACKTRACE": "enable=no", "HOME": directory]) { old, _ in old }
    process.standardInput = input.flatMap { FileHandle(forReadingAtPath: $0) } ?? FileHandle.nullDevice
    let log = FileHandle(forWritingAtPath: logPath)
    (process.standardOutput, process.standardError) = (log, log)
    try process.run()
  }

  /// Everything that the program has written to standard output and standard error.
  func log() throws -> String { try String(contentsOfFile: logPath, encoding: .utf8) }

  /// Waits until the server listens.
  func waitForPort() async throws {
    try await eventually {
      guard process.isRunning else { throw Failure(try log()) }
      guard let found = try log().firstMatch(of: /listening on 127\.0\.0\.1:(\d+)/) else { return false }
      port.withLock { $0 = Int(found.1) ?? 0 }
      return true
    }
  }

  /// Waits for the end, and returns the exit status.
  func status() async -> Int32 {
    do { try await eventually { !process.isRunning } } catch { return -1 }
    return process.terminationStatus
  }

  /// Ends the program as systemd and Kubernetes do, and returns its exit status.
  func stop() async -> Int32 {
    process.terminate()
    return await status()
  }

  /// Ends the program at once.
  func kill() {
    guard process.isRunning else { return }
    Glibc.kill(process.processIdentifier, SIGKILL)
    while process.isRunning { usleep(1000) }
  }

  // MARK: Requests

  struct Answer {
    var status: UInt
    var headers: HTTPHeaders
    var body: String

    var json: [String: String] { get throws { try decoded([String: String].self) } }
    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try JSONDecoder().decode(type, from: Data(body.utf8))
    }
  }

  func get(_ path: String, _ headers: [String: String] = [:], session: String? = nil) async throws -> Answer {
    try await send(.GET, path, headers, session: session)
  }

  func send(
    _ method: HTTPMethod, _ path: String, _ headers: [String: String] = [:], session: String? = nil, body: String? = nil
  ) async throws -> Answer {
    var headers = headers
    if let session { headers["authorization"] = "Bearer \(session)" }
    return try await Self.request(method, url + path, headers, body: body)
  }

  static func request(
    _ method: HTTPMethod, _ url: String, _ headers: [String: String] = [:], body: String? = nil
  ) async throws -> Answer {
    var request = HTTPClientRequest(url: url)
    request.method = method
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    request.body = body.map { .bytes(ByteBuffer(string: $0)) }
    let response = try await client.execute(request, timeout: .seconds(60))
    let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
    return Answer(status: response.status.code, headers: response.headers, body: text)
  }

  private static let client = HTTPClient(
    eventLoopGroupProvider: .singleton, configuration: .init(redirectConfiguration: .disallow))
}
