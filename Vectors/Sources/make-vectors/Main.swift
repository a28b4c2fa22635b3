import CSodium
import FoundationEssentials

/// A second implementation of the format:
///
///     make-vectors write DIRECTORY    writes the sets of files with one fault each, and their manifests
///     make-vectors read DIRECTORY     reads what another implementation wrote, and writes a manifest of what it found
///     make-vectors damage DIRECTORY NEW-DIRECTORY SEED
///                                     damages logs that another implementation wrote, and writes what it finds then
@main struct Main {
  static func main() throws {
    guard sodium_init() >= 0 else { stop("make-vectors: libsodium does not start", 70) }
    guard isAnnexA else { stop("make-vectors: the minimal vault is not that of annex A", 70) }
    let arguments = CommandLine.arguments
    switch (arguments.count, arguments.dropFirst().first) {
    case (3, "write"):
      try VectorSet.write(to: arguments[2] + "/faults")
      try LogVectorSet.write(to: arguments[2] + "/logs")
    case (3, "read"): try ReadDirectory.read(arguments[2])
    case (5, "damage"):
      try DamageDirectory.write(arguments[2], to: arguments[3], seed: arguments[4], count: 150)
    default: stop("usage: make-vectors write|read DIRECTORY, or make-vectors damage DIRECTORY NEW-DIRECTORY SEED", 64)
    }
  }

  private static func stop(_ text: String, _ code: Int32) -> Never {
    print(text)
    exit(code)
  }

  /// What annex A prints, so that this implementation is held against the text before it judges others.
  private static var isAnnexA: Bool {
    let file = VaultVectors.minimal(seed: "").forged().file
    let expected = "ed44d388064dc79e6794d19588d63c0729c90e292c476d477fde2addca0830e9"
    return file.count == 2872 && Sealing.hash(32, file).hexadecimal == expected
  }
}
