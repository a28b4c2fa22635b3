/// The one rule of what a line of text is, for settings and whatever shows them.
package enum SettingLines {
  /// Whether text has a line break: one of the characters that Unicode requires to end a line, such as U+2028. A
  /// control for a line of text could show such a value and never change it.
  package static func hasSeveral(_ text: String) -> Bool { text.contains(where: \.isNewline) }
}
