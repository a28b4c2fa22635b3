import Testing
import VaultSealing

struct SealingErrorTests {
  @Test func `an error is printed as its code and its message`() {
    #expect("\(SealingError(.kdfMemory, "no memory"))" == "kdfMemory: no memory")
  }

  @Test func `codes are told apart by their text`() {
    let codes: [SealingError.Code] = [
      .invalidKeyText, .invalidPassphrase, .kdfRefused, .kdfMemory, .guardedMemory, .randomBytes,
    ]

    #expect(Set(codes.map(\.rawValue)).count == codes.count)
    #expect(codes.allSatisfy { SealingError.Code(rawValue: $0.rawValue) == $0 })
  }
}
