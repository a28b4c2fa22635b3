@testable import secretprefs

/// Stands for a secret in the inputs. No text of this package has it.
let fuzzedSecret = "Q7zX"

/// Requires that a text has no secret of the input.
func demandNoSecret(_ text: String, _ place: String) throws(Violation) {
  try demand(!text.contains(fuzzedSecret), "\(place) has a secret: \(text)")
}

/// Lends a copy that is as long as the input, so that the sanitizer sees what is read behind it.
func withCopy<R>(
  of input: some Collection<UInt8>, _ body: (UnsafeMutableRawBufferPointer) throws -> R
) rethrows -> R {
  let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: input.count, alignment: 1)
  defer { copy.deallocate() }
  copy.copyBytes(from: input)
  return try body(copy)
}

/// The lines of a text, without their line ends. What follows the last line feed is one, too.
func fuzzedLines(_ text: [UInt8]) -> [[UInt8]] {
  text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
}

/// A line without the blanks at its beginning, which is not empty and no comment.
func isEntry(_ line: [UInt8]) -> Bool {
  let text = line.drop { " \t\r".utf8.contains($0) }
  return !text.isEmpty && text.first != UInt8(ascii: "#")
}
