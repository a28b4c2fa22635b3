import Testing

@testable import secretprefs

/// Which addresses of an import are taken for secrets.
struct SecretMarkTests {
  @Test(arguments: [
    "alice", "alice@example.com", "https://shop.example/", "https://shop.example:8443/login/start",
    "db.example/billing",
    "https://0123456789-a-long-name-of-a-host.eu-west-1.example/", "https://shop.example/orders/1234567890123456789",
    "https://shop.example/a-page-about-shopping", "0123456789abcdefABCDEF",
  ])
  func `an address without a part that may be a token is shown`(_ text: String) {
    #expect(!SecretMark.mayBeSecret(text.utf8))
  }

  @Test(arguments: [
    "https://u:p@shop.example/", "https://shop.example/?token=x", "https://shop.example/#x",
    // As services make them for webhooks: letters and digits, an identifier, base64 for URLs, letters alone.
    "https://hooks.example/services/T024BE7LD/B024BE7LE/aB3dE5gH7jK9mN1pQ3sT5vW7",
    "https://hooks.example/b/3f2504e0-4f89-11d3-9a0c-0305e82c3301/x", "https://hooks.example/w/12/x_Y-z_W-v_U-t_S-r_Q",
    "hooks.example/abcdefghABCDEFGH", "https://hooks.example/bot0123456789abcdef",
  ])
  func `an address that may have a token is a secret`(_ text: String) { #expect(SecretMark.mayBeSecret(text.utf8)) }
}
