import Testing
import VaultSealing

struct VaultErrorTests {
  @Test func `an error is printed as its code and its message`() {
    #expect("\(VaultError(.kdfMemory, "no memory"))" == "kdfMemory: no memory")
  }

  @Test func `codes have different texts`() {
    let codes = VaultError.Code.all

    #expect(Set(codes.map(\.rawValue)).count == codes.count)
    #expect(codes.allSatisfy { VaultError.Code(rawValue: $0.rawValue) == $0 })
  }
}
