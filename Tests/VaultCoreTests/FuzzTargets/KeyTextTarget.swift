@testable import VaultCore
@testable import VaultSealing

/// Text: key text, names, UTF-8 and the order of names, each compared with what the standard library thinks.
struct KeyTextTarget: FuzzTarget {
  func check(_ input: UnsafeRawBufferPointer) throws {
    let bytes = Array(input)
    try checkKeyText(bytes)
    try checkText(bytes)
    try checkOrder(bytes)
  }

  private func checkKeyText(_ bytes: [UInt8]) throws {
    let digits = bytes.dropFirst(10).prefix(64)
    let isKeyText =
      bytes.starts(with: Array("spv-key-1:".utf8)) && digits.count == 64
      && digits.allSatisfy { Array("0123456789abcdef".utf8).contains($0) }
      && (bytes.count == 74 || bytes.dropFirst(74) == [0x0A])
    let key: SealingKey
    do throws(VaultError) { key = try KeyText.parse(bytes.span.bytes) } catch {
      try demand(!isKeyText, "key text is refused")
      return try demand(error.code == .invalidKeyText, "key text is refused as \(error)")
    }
    try demand(isKeyText, "what is no key text is accepted")
    let text = try KeyText.write(key)
    try demand(text.withUnsafeBytes { $0.elementsEqual(bytes.prefix(74)) }, "a key is not written as it was read")
  }

  private func checkText(_ bytes: [UInt8]) throws {
    let text = String(validating: bytes, as: UTF8.self)
    try demand(isUTF8(bytes.span.bytes) == (text != nil), "what UTF-8 is")
    try demand(Vault.Name.isValid(bytes.span.bytes) == ReferenceReader.isName(bytes), "what a name is")
    guard let text else { return }
    // A string becomes a name by way of its normal form, whose normal form is the same.
    let name: Vault.Name
    do throws(VaultError) { name = try Vault.Name(text) } catch {
      return try demand(error.code == .invalidName, "a text that is no name")
    }
    try demand(ReferenceReader.isName(name.utf8) && name.text == text, "the name of a text")
    try demand(try Vault.Name(name.text) == name, "the name of a name")
    try demand(
      name.spellings == (bytes == name.utf8 ? [bytes] : [bytes, name.utf8])
        && (!Vault.Name.isASCII(text) || bytes == name.utf8), "the spellings of a name")
  }

  private func checkOrder(_ bytes: [UInt8]) throws {
    let (a, b) = (Array(bytes.prefix(bytes.count / 2)), Array(bytes.dropFirst(bytes.count / 2)))
    let order = compareBytes(a.span.bytes, b.span.bytes)
    try demand((order < 0) == a.lexicographicallyPrecedes(b), "the order of bytes")
    try demand((order == 0) == (a == b), "the equality of bytes")
  }
}
