/// Names (2.5), in the section of somebody who holds the group's key.
enum NameVectors {
  static var all: [Vector] {
    refused + [
      Vector("names-kept", "odd names that are names, ordered by bytes", .opens) {
        $0.groups[0].section.records = kept.map { Record("names", $0, "value") }
      },
      Vector("names-long", "a service and a key of 1024 bytes, and one byte each", .opens) {
        let long = String(repeating: "\u{1F511}", count: 256)
        $0.groups[0].section.records = [Record("s", "k"), Record(long, long)]
      },
      Vector("names-group-long", "a group's name of 1024 bytes", .opens) {
        $0.groups[0].name = Bytes(String(repeating: "g", count: 1024))
      },
    ]
  }

  /// In order of their bytes.
  private static let kept = [
    " ", "!", "A", "a", "a ", "ab", "e\u{301}", "~", "\u{A0}", "\u{E9}", "\u{7FF}", "\u{800}", "\u{200D}", "\u{202E}",
    "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{FFFF}", "\u{10000}", "\u{1F511}", "\u{10FFFF}",
  ]

  private static var refused: [Vector] {
    [
      key("empty", "no bytes", []),
      key("long", "1025 bytes", Bytes(repeating: 0x6B, count: 1025)),
      key("tab", "U+0009", [0x6B, 9, 0x6B]),
      key("80", "U+0080", [0xC2, 0x80]),
      key("9f", "U+009F", [0x6B, 0xC2, 0x9F]),
      key("lead-3-last", "a lead byte of three with one trail byte", [0xE2, 0x82]),
      key("lead-3-third", "a lead byte of three whose third is no trail byte", [0xE2, 0x82, 0x28]),
      key("lead-4-fourth", "a lead byte of four whose fourth is no trail byte", [0xF0, 0x9F, 0x94, 0x28]),
      key("overlong-3", "an overlong form of three bytes", [0xE0, 0x9F, 0xBF]),
      key("overlong-4", "an overlong form of four bytes", [0xF0, 0x8F, 0xBF, 0xBF]),
      key("surrogate", "a surrogate", [0xED, 0xA0, 0x80]),
      key("above", "above U+10FFFF", [0xF4, 0x90, 0x80, 0x80]),
      key("delete-early", "U+007F among eight bytes", Bytes("123\u{7F}5678")),
      key("trail-early", "a trail byte among eight bytes", Bytes("1234") + [0x80] + Bytes("678")),
      key("control-early", "a control character among eight bytes", Bytes("123\u{1B}5678")),
      Vector("name-service-empty", "a service of no bytes", .sealed(.invalidName)) {
        $0.groups[0].section.records[0].service = []
      },
    ]
  }

  private static func key(_ name: String, _ about: String, _ bytes: Bytes) -> Vector {
    Vector("name-" + name, "a key with " + about, .sealed(.invalidName)) {
      $0.groups[0].section.records[0].key = bytes
    }
  }
}
