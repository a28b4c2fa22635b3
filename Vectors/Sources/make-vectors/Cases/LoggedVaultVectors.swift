/// Vaults with the flag of annex F, and what a key holder may write into them.
enum LoggedVaultVectors {
  static var all: [Vector] { flags + items + changes }

  private static var flags: [Vector] {
    [
      Vector("logged", "a vault with a logged group; an owner and a holder", .opens, from: Draft.logged) { _ in },
      Vector("logged-no-items", "the flag, and no item", .opens, from: Draft.logged) {
        $0.groups[1].section.extensionField = []
        $0.manifest.extensionField = []
      },
      logged("logged-flag-2", "feature flag bit 1", .refused(.unsupportedFeature)) { $0.flags = 3 },
      logged("logged-flag-last", "feature flag bit 15", .refused(.unsupportedFeature)) { $0.flags = 0x8001 },
      logged("logged-flag-removed", "items without the flag, in the manifest and a section", .sealed(.tampered)) {
        $0.flags = 0
      },
      logged(
        "logged-flag-removed-section", "an item without the flag, in a section",
        .each(["owner": .tampered, "holder": .tampered])
      ) {
        $0.flags = 0
        $0.manifest.extensionField = []
      },
      logged("logged-flag-removed-manifest", "an item without the flag, in the manifest", .owner(.tampered)) {
        $0.flags = 0
        $0.groups[1].section.extensionField = []
      },
      logged(
        "logged-flag-removed-list", "an item without the flag, in an extension that is no list", .sealed(.malformed)
      ) {
        $0.flags = 0
        $0.manifest.extensionField += [1]
        $0.groups[1].section.extensionField += [1]
      },
      logged("logged-flag-cleared", "the flag was taken away from the file", .owner(.tampered)) {
        $0.finished = {
          $0.store(UInt16(0), at: 10)
          $0.mendChecksum()
        }
        $0.groups[1].section.extensionField = []
      },
    ]
  }

  private static var items: [Vector] {
    [
      item("twice", "two items") { $0 += $0 },
      item("empty", "an empty item") { $0 = Record.item(LogItem.tag, []) },
      item("short", "an item of 8 bytes") { $0 = Record.item(LogItem.tag, .zeros(8)) },
      item("pair-cut", "half a pair") { $0 = Record.item(LogItem.tag, .zeros(9) + .integer(UInt32(1)) + .zeros(103)) },
      item("pair-longer", "a byte behind a pair") {
        $0 = Record.item(LogItem.tag, .zeros(9) + .integer(UInt32(1)) + .zeros(105))
      },
      item("epoch-zero", "epoch 0") { $0 = pairs(0) },
      item("epoch-own", "the section's epoch") { $0 = pairs(1, 3) },
      item("epoch-twice", "an epoch twice") { $0 = pairs(2, 2) },
      item("epoch-falling", "epochs that fall") { $0 = pairs(2, 1) },
      Vector("logged-item-unopened", "pairs whose keys do not open: the vault does", .opens, from: Draft.logged) {
        $0.groups[1].section.extensionField = pairs(1, 2)
      },
      Vector("logged-policy-unknown", "policies that this version does not know", .opens, from: Draft.logged) {
        var item = $0.logItem(1, policy: 200, earlier: [2])
        (item.limit, item.keep) = (1, .max)
        $0.setLog(1, item)
        $0.setDefault(LogItem(policy: 3))
      },
      logged("logged-default-short", "a default of 8 bytes", .owner(.malformed)) {
        $0.manifest.extensionField = Record.item(LogItem.tag, .zeros(8))
      },
      logged("logged-default-longer", "a default with a pair", .owner(.malformed)) {
        $0.manifest.extensionField = pairs(1)
      },
      logged("logged-default-twice", "two defaults", .owner(.malformed)) {
        $0.manifest.extensionField += $0.manifest.extensionField
      },
    ]
  }

  private static var changes: [Vector] {
    [
      changed("first", "a policy, and a put behind it", nil, [3, 2], put: true),
      changed("alone", "a policy alone", nil, [3, 0]),
      changed("unknown", "a policy that this version does not know", nil, [3, 77]),
      changed("twice", "two policies", .malformed, [3, 2], [3, 1]),
      changed("cut", "no policy behind the 3", .malformed, [3]),
      changed("longer", "a byte behind the policy", .malformed, [3, 1, 0]),
      Vector(
        "logged-change-none", "an entry that ends before its change", refusedToBoth(.malformed), from: Draft.logged
      ) {
        var entry = Entry(1)
        entry.count = 1
        $0.entries.append(entry)
      },
      Vector("logged-change-late", "a policy behind a put", refusedToBoth(.malformed), from: Draft.logged) {
        $0.append(1, .put(Record("git", "z")), .other([3, 1]))
      },
      Vector("logged-change-no-flag", "a policy without the flag", refusedToBoth(.malformed), from: Draft.house) {
        $0.append(1, .other([3, 1]))
      },
      Vector("logged-change-no-item", "a policy of a group without an item", .opens, from: Draft.logged) {
        $0.groups[1].section.extensionField = []
        $0.append(1, .other([3, 1]))
      },
      Vector("logged-change-4", "a change 4", refusedToBoth(.malformed), from: Draft.logged) {
        $0.append(1, .other([4, 1]))
      },
    ]
  }

  private static func refusedToBoth(_ refusal: Refusal) -> Vector.Outcome {
    .each(["owner": refusal, "holder": refusal])
  }

  private static func changed(
    _ name: String, _ about: String, _ refusal: Refusal?, _ changes: Bytes..., put: Bool = false
  ) -> Vector {
    Vector("logged-change-" + name, "an entry with " + about, refusal.map(refusedToBoth) ?? .opens, from: Draft.logged)
    {
      var entry = Entry(1)
      entry.changes = changes.map { .other($0) } + (put ? [.put(Record("git", "z"))] : [])
      $0.entries.append(entry)
    }
  }

  private static func item(_ name: String, _ about: String, _ change: @escaping (inout Bytes) -> Void) -> Vector {
    logged("logged-item-" + name, "a log item: " + about, refusedToBoth(.malformed)) {
      change(&$0.groups[1].section.extensionField)
    }
  }

  private static func logged(
    _ name: String, _ about: String, _ outcome: Vector.Outcome, _ change: @escaping (inout Draft) -> Void
  ) -> Vector {
    Vector(name, about, outcome, from: Draft.logged, change)
  }

  private static func pairs(_ epochs: UInt32...) -> Bytes {
    Record.item(LogItem.tag, .zeros(9) + epochs.flatMap { .integer($0) + .zeros(104) })
  }
}
