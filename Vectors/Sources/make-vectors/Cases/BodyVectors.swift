/// The body of a section (3.6), sealed by somebody who holds the group's key.
enum BodyVectors {
  static var all: [Vector] {
    paddings + bodies + orders + extensions
  }

  private static func section(
    _ name: String, _ about: String, _ refusal: Refusal, _ change: @escaping (inout Section) -> Void
  ) -> Vector {
    Vector("section-" + name, "a section: " + about, .sealed(refusal)) { draft in
      change(&draft.groups[0].section)
      // The fault is the section's alone.
      draft.groups[0].floorGeneration = max(1, min(draft.groups[0].section.generation, 1 << 63 - 1))
    }
  }

  private static var paddings: [Vector] {
    [
      section("padding-no-mark", "zeros without the mark before them", .malformed) {
        $0.twist.padded = Pad.withoutMark(step: 1024)
      },
      section("padding-longer", "padding of one step more than needed", .malformed) {
        $0.twist.padded = Pad.longer(step: 1024)
      },
      section("padding-other-mark", "a mark of 81", .malformed) { $0.twist.padded = Pad.otherMark(step: 1024) },
      section("padding-not-zero", "a byte behind the mark that is not zero", .malformed) {
        $0.twist.padded = Pad.unclean(step: 1024)
      },
      section("padding-all-zero", "nothing but zeros", .malformed) { $0.twist.padded = Pad.zeros(step: 1024) },
    ]
  }

  private static var bodies: [Vector] {
    [
      section("generation-zero", "generation 0", .limitExceeded) {
        $0.generation = 0
        $0.records = []
      },
      section("generation-2-63", "generation 2^63", .limitExceeded) { $0.generation = 1 << 63 },
      section("base-zero", "base_generation 0", .limitExceeded) { $0.baseGeneration = 0 },
      section("base-2-63", "base_generation 2^63", .limitExceeded) { $0.baseGeneration = 1 << 63 },
      section("name-control", "a group's name with a control character", .invalidName) { $0.name = Bytes("d\u{7F}") },
      section("body-cut-name", "a body that ends in the name", .malformed) {
        $0.body = { $0.removeLast($0.count - 52) }
      },
      section("body-cut-value", "a body that ends in a sealed value", .malformed) { $0.body = { $0.removeLast(10) } },
      section("body-cut-extension", "a body that ends before the extension field", .malformed) {
        $0.body = { $0.removeLast(4) }
      },
      section("body-longer", "a byte behind the end", .malformed) { $0.rest = [0] },
      section("records-limit", "n_records 1 048 577", .limitExceeded) { $0.count = 1_048_577 },
      section("records-many", "more records than bytes", .malformed) { $0.count = 1_048_576 },
    ]
  }

  private static var orders: [Vector] {
    [
      section("record-order", "keys in falling order", .malformed) {
        $0.records = [Record("a", "b"), Record("a", "a")]
      },
      section("record-twice", "one record twice", .malformed) { $0.records = [Record("a", "b"), Record("a", "b")] },
      section("record-order-service", "services in falling order, keys in rising", .malformed) {
        $0.records = [Record("b", "a"), Record("a", "b")]
      },
      section("record-order-joined", "ordered as if service and key were one string", .malformed) {
        $0.records = [Record("ab", "c"), Record("a", "bd")]
      },
      section("record-order-signed", "ordered as if bytes were signed", .malformed) {
        $0.records = [Record("s", "\u{E9}"), Record("s", "z")]
      },
    ]
  }

  private static var extensions: [Vector] {
    [
      section("extension-order", "an extension field of falling tags", .malformed) {
        $0.extensionField = Record.item(8, []) + Record.item(7, [])
      },
      Vector("section-extension", "an extension field of unknown items, two of one tag", .opens) {
        $0.groups[0].section.extensionField =
          Record.item(3, [1]) + Record.item(5, []) + Record.item(5, [0]) + Record.item(.max, [1, 2])
      },
    ]
  }
}
