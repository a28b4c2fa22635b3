import CPreferencesCurl
import Foundation
import Preferences

/// One GET request and its answer, on the calling thread.
///
/// The body counts as it comes, and at the first byte too many the transfer ends. Nothing is decompressed: a small
/// answer cannot unfold into a large one.
final class HTTPTransfer {
  /// A whole answer.
  struct Answer: Sendable {
    var head: ResponseHead
    /// Empty unless the status is one of ``contentStatuses``.
    var body: [UInt8]
  }

  /// Those that bring what was asked for: OK, and the same through a proxy that has changed it.
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
  ///   - headers: lines without their ends.
  ///   - deadline: when the answer is to be there.
  ///   - isWanted: asked at least once a second; false ends the transfer.
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
    // Another status counts whatever has become of its body.
    let needsNoBody = head.isComplete && head.isFinal && !Self.contentStatuses.contains(head.status)
    guard failure == 0 || needsNoBody else {
      if failure == CCURL_TIMED_OUT.rawValue { throw .late }
      throw PreferencesError(.unreachable, "no whole answer (\(String(cString: ccurl_reason(failure))))")
    }
    // libcurl takes a connection that ends within the head for a whole answer.
    guard head.isComplete else { throw PreferencesError(.unreachable, "the answer broke off") }
    return Answer(head: head, body: body)
  }

  private static func at(_ context: UnsafeMutableRawPointer?) -> HTTPTransfer {
    Unmanaged<HTTPTransfer>.fromOpaque(context!).takeUnretainedValue()
  }

  private func receiveHead(_ line: UnsafeRawBufferPointer) -> Bool {
    if head.take(Array(line)) { return true }
    let limit = ResponseHead.maximumByteCount
    refusal = PreferencesError(.limitExceeded, "the head of the answer has more than \(limit) bytes")
    return false
  }

  private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    // Nobody wants to read an error page.
    guard Self.contentStatuses.contains(head.status) else { return false }
    guard bytes.count <= limit - body.count else {
      refusal = PreferencesError(.limitExceeded, "the answer has more than \(limit) bytes")
      return false
    }
    body += bytes
    return true
  }
}

extension PreferencesError {
  fileprivate static var late: PreferencesError { PreferencesError(.unreachable, "no whole answer in time") }
}
