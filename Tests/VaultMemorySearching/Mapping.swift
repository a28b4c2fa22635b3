import Glibc

/// A part of the process's memory, as `/proc/self/maps` lists it.
package struct Mapping: Equatable {
  package let range: Range<UInt>
  package let line: String
  /// Whether anything of the process can be in it: not in what is mapped from a file and cannot be written.
  package var isOfInterest: Bool {
    let fields = line.split(separator: " ")
    return fields[1].hasPrefix("rw") || fields[1].hasPrefix("r") && fields[4] == "0"
  }

  package static func all() -> [Mapping] { lines(of: "/proc/self/maps").compactMap(Mapping.init) }

  /// What the kernel does with the mapping that holds `address`: its two-letter flags.
  package static func flags(at address: UInt) -> [Substring] {
    var isHere = false
    for line in lines(of: "/proc/self/smaps") {
      if let mapping = Mapping(line) { isHere = mapping.range.contains(address) }
      if isHere, line.hasPrefix("VmFlags:") { return Array(line.split(separator: " ").dropFirst()) }
    }
    return []
  }

  init?(_ line: String) {
    let bounds = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
    guard bounds.count == 2 else { return nil }
    (range, self.line) = (bounds[0]..<bounds[1], line)
  }

  static func lines(of path: String) -> [String] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var lines: [String] = []
    var line = [CChar](repeating: 0, count: 4096)
    while fgets(&line, Int32(line.count), file) != nil {
      lines.append(String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
    return lines
  }
}
