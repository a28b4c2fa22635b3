@testable import VaultCore
@testable import VaultSealing

/// The body of a section: every record, its names, its extension items, and all of it written again.
struct SectionTarget: FuzzTarget {
  private let group: FuzzGroup

  init() throws { group = try FuzzGroup() }

  func check(_ input: UnsafeRawBufferPointer) throws {
    try checkPadding(input)
    let body = Array(input)
    let parsed = try agreement(
      "a section", { () throws(VaultError) in try group.content(body) },
      { () throws(VaultError) in try ReferenceGroup(body, limits: group.limits) })
    guard let (content, expected) = parsed else { return }
    try expected.compare(with: content)
    try demand(try content.section() == body, "a section is not written as it was read")
  }

  /// Taken for a padded body, the input is refused or is what padding gives.
  private func checkPadding(_ input: UnsafeRawBufferPointer) throws {
    guard let count = Padding.unpaddedCount(input.bytes, step: GroupContent.entryStep) else { return }
    try demand(input.count % GroupContent.entryStep == 0, "the length of a padded body")
    try demand(input[count] == 0x80 && input[(count + 1)...].allSatisfy { $0 == 0 }, "the mark of the padding")
  }
}
