internal import CDurableFiles

/// The name that a file has while it has no other: for the instant before it replaces another file, and, where the file
/// system cannot hold a file without a name, while it is written. `.secretprefs-INODE-RANDOM.part`, both in
/// hexadecimal.
///
/// Such a name is not chosen by chance. What a killed process left is certain to be a leftover only if the name has
/// the number of the file's own inode, or the file is empty: a copy or an edited file of a user has neither.
package enum TemporaryName {
  private static let start = ".secretprefs-"
  private static let end = ".part"

  /// A new name for the file with this inode.
  static func make(for inode: UInt64) -> String? {
    var random = [UInt8](repeating: 0, count: 16)
    let isFilled = unsafe random.withUnsafeMutableBytes { unsafe cfiles_random($0.baseAddress!, $0.count) == 0 }
    guard isFilled else { return nil }
    return start + String(inode, radix: 16) + "-" + random.hexadecimal + end
  }

  /// Whether a name has the form of a temporary name.
  package static func isForm(of name: String) -> Bool { inode(in: name) != nil }

  /// The inode in a temporary name; `nil` for a name of a different form.
  static func inode(in name: String) -> UInt64? {
    guard name.hasPrefix(start), name.hasSuffix(end) else { return nil }
    let parts = name.dropFirst(start.count).dropLast(end.count).split(separator: "-", omittingEmptySubsequences: false)
    let isHexadecimal = parts.allSatisfy { part in
      !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
    guard parts.count == 2, isHexadecimal, parts[1].utf8.count == 32 else { return nil }
    return UInt64(parts[0], radix: 16)
  }
}
