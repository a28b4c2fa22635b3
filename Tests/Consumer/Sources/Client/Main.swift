import AsyncHTTPClient
import Crypto
import Foundation
import Secrets
import SecretsTesting

/// A client that signs its requests with a sealed key; it sends none.
@main struct Client {
  static func main() throws {
    let throwaway = try ThrowawayVault()
    // The file is removed with the last reference.
    defer { withExtendedLifetime(throwaway) {} }
    let keys = try throwaway.preferences(service: "com.example.shop")
    try keys.set("sk_example", forKey: "signing")

    let code = try keys.string(forKey: "signing").map {
      HMAC<SHA256>.authenticationCode(for: Data("hello".utf8), using: SymmetricKey(data: Data($0.utf8)))
    }
    var request = HTTPClientRequest(url: "https://api.example/orders")
    if let code { request.headers.add(name: "signature", value: Data(code).base64EncodedString()) }
    guard request.headers.contains(name: "signature") else { throw VaultError(.notFound, "the key is not there") }
    print("client: ok")
  }
}
