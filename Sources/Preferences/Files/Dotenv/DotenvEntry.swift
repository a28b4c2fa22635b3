/// One assignment of a dotenv file, and where it is.
package struct DotenvEntry {
  package let name: String
  /// The decoded value in the parsed buffer. Contains no NUL, but possibly bytes that are not UTF-8.
  package let text: Range<Int>
  /// The number of its first line, from 1.
  package let line: Int
  /// The bytes from the beginning of the first line to the end of the last, with the line ending.
  let lines: Range<Int>
  /// The bytes of the value in the file, with its quotes.
  let value: Range<Int>
  /// Why other programs read a different value, as a sentence without a capital; `nil` if they read the same.
  package let doubt: String?
}
