public import Foundation

extension Data {
  /// Base64 for URLs and cookies (RFC 4648 section 5), without padding.
  public var base64URL: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// Decodes Base64 for URLs; `nil` if `text` is none.
  public init?(base64URL text: String) {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    self.init(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding)
  }
}
