/// How a value is spelled where `scan` finds it or `run --mask` hides it.
///
/// Values and texts are compared without ``ByteTraits``' ignored bytes, so each form is recognised also if it is
/// wrapped, indented or quoted.
enum ValueForm: String, CaseIterable {
  /// The bytes themselves.
  case plain
  /// One line of a value that has several.
  case line
  /// Base64 in the standard alphabet or that of URLs, wherever the value begins in the encoded bytes. Without the
  /// digits that also depend on other bytes; these have up to four bits of the value's first and last byte.
  case base64
  /// Percent-encoded, once or several times.
  case percent
  /// Two digits for each byte, all in upper or all in lower case.
  case hex
  /// With backslashes as in a JSON string.
  case json
  /// With the quotes and escapes of a shell, YAML, SQL, CSV or a programming language.
  case quoted
  /// With the entities of XML and HTML, named or as numbers.
  case entity
  /// Quoted-printable.
  case printable
}
