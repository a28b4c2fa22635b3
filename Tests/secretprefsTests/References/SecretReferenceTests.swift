import Testing
import VaultCore

@testable import secretprefs

struct SecretReferenceTests {
  private static func fault(_ text: String) -> SecretReference.Fault? {
    do throws(SecretReference.Fault) {
      _ = try SecretReference(Array(text.utf8))
      return nil
    } catch { return error }
  }

  @Test(
    arguments: [
      ("", .scheme), ("shop/a", .scheme), ("secret:/shop/a", .scheme), ("Secret://shop/a", .scheme),
      ("op://shop/a", .scheme),
      ("secret://", .noService), ("secret:///a", .noService), ("secret://?group=a", .noService),
      ("secret://a", .noKey), ("secret://a/", .noKey), ("secret://a?group=b", .noKey), ("secret://a/?group=b", .noKey),
      ("secret://a/b#c", .fragment), ("secret://a#c", .fragment), ("secret://a/b?group=c#d", .fragment),
      ("secret://a/b?version=1#d", .fragment),
      ("secret://a/b?", .parameter), ("secret://a/b?group", .parameter), ("secret://a/b?Group=c", .parameter),
      ("secret://a/b?group=c&group=d", .parameter), ("secret://a/b?version=1", .parameter),
      ("secret://a/b?c", .parameter),
      ("secret://a/b?group=c?", .character), ("secret://a/b?group=c/d", .character), ("secret://a/{b", .character),
      ("secret://a/\"b\"", .character), ("secret://a/b\\c", .character), ("secret://a/ü", .character),
      ("secret://a/b c", .character), ("secret://a b/c", .character), ("secret://a/b\n", .character),
      ("secret://a/%", .encoding), ("secret://a/%2", .encoding), ("secret://a/%g0", .encoding),
      ("secret://a/%+1", .encoding), ("secret://a/%ff", .encoding), ("secret://a/%C3", .encoding),
      ("secret://a/%0A", .name), ("secret://a/%00", .name), ("secret://a/b?group=", .name),
      ("secret://a/" + String(repeating: "b", count: 1025), .name),
    ] as [(String, SecretReference.Fault)])
  func `what is no reference is refused, with its fault`(_ text: String, _ fault: SecretReference.Fault) {
    #expect(Self.fault(text) == fault)
  }

  @Test func `every fault has a test, a reason and a hint, and repeats nothing`() {
    for fault in SecretReference.Fault.allCases {
      #expect(fault.error.code == "malformed" && fault.error.status == .badFile)
      #expect(fault.usage.code == "usage" && fault.usage.status == .usage)
      #expect(fault.usage.hint != nil && fault.usage.hint == fault.error.hint)
    }
    #expect(Set(SecretReference.Fault.allCases.map(\.reason)).count == SecretReference.Fault.allCases.count)
  }

  @Test func `a reference has a service and a key, and may have a group`() throws {
    let short = try SecretReference(Array("secret://shop/a%20b~c@d:e".utf8))
    #expect(short.group == nil && short.service.text == "shop" && short.key == "a b~c@d:e")
    let long = try SecretReference(Array("secret://shop/a?group=billing%2F1".utf8))
    #expect(long.group == "billing/1" && long.service.text == "shop" && long.key == "a")
    let slashes = try SecretReference(Array("secret://s%2Ft//a/b%2fc/".utf8))
    #expect(slashes.group == nil && slashes.service.text == "s/t" && slashes.key == "/a/b/c/")
  }

  @Test func `any names make a reference that is one word of a shell, and is parsed to them again`() throws {
    var random = SeededRandom(1)
    for _ in 0..<5000 {
      let service = try random.name()
      let key = try random.name()
      let group = try Bool.random(using: &random) ? random.name() : nil
      let text = SecretReference(group: group?.text, service: service, key: key.text).text
      let parsed = try SecretReference(Array(text.utf8))
      #expect(parsed.service == service && parsed.key.utf8.elementsEqual(key.text.utf8) && parsed.group == group?.text)
      #expect(text.wholeMatch(of: #/[A-Za-z0-9%:@/=+,._-]+(\?group=[A-Za-z0-9%:@=+,._-]+)?/#) != nil, "\(text)")
      #expect(parsed.text == text)
    }
  }

  /// `Scripts/references` sets the number of runs.
  @Test func `any text is refused, or is a reference that is written in one way`() throws {
    var random = SeededRandom(2)
    var accepted = 0
    for _ in 0..<SeededRandom.runs {
      let bytes = random.mutated([
        "secret://shop/db/password", "secret://s%2Ft/a%20b?group=billing", "secret://a/b#c", "secret://a/%C3%BC",
      ])
      let reference: SecretReference
      do throws(SecretReference.Fault) { reference = try SecretReference(bytes) } catch { continue }
      accepted += 1
      guard SecretReference.isMeant(bytes), !reference.key.isEmpty else {
        Issue.record("\(bytes)")
        return
      }
      let again = try SecretReference(Array(reference.text.utf8))
      guard again.text == reference.text, again.service == reference.service, again.group == reference.group,
        again.key.utf8.elementsEqual(reference.key.utf8)
      else {
        Issue.record("\(bytes)")
        return
      }
    }
    #expect(accepted > SeededRandom.runs / 20)
  }
}
