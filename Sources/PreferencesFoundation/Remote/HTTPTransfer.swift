import CPreferencesCurl
import Foundation
import PreferenceFiles
import Preferences

/// One GET request and its response, on the calling thread.
///
/// The size of the body is checked while it is received, and the transfer ends at the first byte beyond the limit.
/// Nothing is decompressed, so a small response cannot become a large one.
final class HTTPTransfer {
  /// A whole response.
  struct Answer: Sendable {
    var head: ResponseHead
    /// Empty unless the status is one of ``contentStatuses``.
    var body: [UInt8]
  }

  /// The statuses with the requested content: 200 (OK), and 203 if a proxy has modified it.
  static let contentStatuses = [200, 203]

  private let limit: Int
  private let isWanted: () -> Bool
  private var head = ResponseHead()
  private var body: [UInt8] = []
  private var refusal: PreferencesError?

  private init(upTo limit: Int, while isWanted: @escaping () -> Bool) {
    (self.limit, self.isWanted) = (limit, isWanted)
  }

  /// - Parameters:
  ///   - headers: lines without line endings.
  ///   - deadline: the time by which the response must be complete.
  ///   - isWanted: called at least once a second. `false` ends the transfer.
  /// - Throws: `unreachable`, `limitExceeded`.
  static func get(
    _ url: String, headers: [String], by deadline: ContinuousClock.Instant, upTo limit: Int,
    while isWanted: @escaping () -> Bool
  ) throws(PreferencesError) -> Answer {
    let left = (deadline - .now) / .milliseconds(1)
    guard left > 0 else { throw .late }
    let transfer = HTTPTransfer(upTo: limit, while: isWanted)
    return try transfer.run(url, headers, milliseconds: Int(min(left.rounded(.up), Double(Int32.max))))
  }

  private func run(
    _ url: String, _ headers: [String], milliseconds: Int
  ) throws(PreferencesError) -> Answer {
    let lines = headers.map { strdup($0) }
    defer { for line in lines { free(line) } }
    let failure = lines.map { UnsafePointer($0) }.withUnsafeBufferPointer { lines in
      url.withCString { url in
        var request = ccurl_request()
        request.url = url
        request.headers = lines.baseAddress
        request.header_count = lines.count
        request.timeout_milliseconds = milliseconds
        request.receive_head = { HTTPTransfer.at($0).receiveHead(UnsafeRawBufferPointer(start: $1, count: $2)) ? 1 : 0 }
        request.receive_body = { HTTPTransfer.at($0).receiveBody(UnsafeRawBufferPointer(start: $1, count: $2)) ? 1 : 0 }
        request.is_wanted = { HTTPTransfer.at($0).isWanted() ? 1 : 0 }
        request.context = Unmanaged.passUnretained(self).toOpaque()
        return ccurl_get(&request)
      }
    }
    if let refusal { throw refusal }
    // For other statuses it does not matter whether the body is complete.
    let needsNoBody = head.isComplete && head.isFinal && !Self.contentStatuses.contains(head.status)
    guard failure == 0 || needsNoBody else {
      if failure == CCURL_TIMED_OUT.rawValue { throw .late }
      throw PreferencesError(.unreachable, "no complete response (\(String(cString: ccurl_reason(failure))))")
    }
    // libcurl accepts a connection that ends within the header as a whole response.
    guard head.isComplete else { throw PreferencesError(.unreachable, "the response is incomplete") }
    return Answer(head: head, body: body)
  }

  private static func at(_ context: UnsafeMutableRawPointer?) -> HTTPTransfer {
    Unmanaged<HTTPTransfer>.fromOpaque(context!).takeUnretainedValue()
  }

  private func receiveHead(_ line: UnsafeRawBufferPointer) -> Bool {
    if head.take(Array(line)) { return true }
    let limit = ResponseHead.maximumByteCount
    refusal = PreferencesError(.limitExceeded, "the header of the response has more than \(limit) bytes")
    return false
  }

  private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    // The body of an error page is not needed.
    guard Self.contentStatuses.contains(head.status) else { return false }
    guard bytes.count <= limit - body.count else {
      refusal = PreferencesError(.limitExceeded, "the response has more than \(limit) bytes")
      return false
    }
    body += bytes
    return true
  }
}

extension PreferencesError {
  fileprivate static var late: PreferencesError { PreferencesError(.unreachable, "no complete response in time") }
}
