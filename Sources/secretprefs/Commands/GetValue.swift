internal import DurableFiles
internal import VaultCore

/// The operation of `get`.
struct GetValue: ToolAction {
  let access: VaultAccess
  let place: RecordPlace
  let key: String
  /// The revision to read. `nil` for the current value.
  var revision: UInt64?
  var addsNewline = false
  var isJSON = false
  /// Where the value goes instead of standard output.
  var clipboard: Clipboard?

  func perform(_ messages: Messages) throws {
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let record = try place.existing(key, in: group, of: vault)
    let earlier = revision == record.revision ? nil : revision
    let output = isJSON ? try SecretOutput() : nil
    let written = try vault.withValue(of: record, previous: earlier, in: group) { kind, bytes in
      bytes.withUnsafeBytes { bytes in
        Result { () throws(ToolError) in
          if record.isExpired(at: access.options.now()) { messages.warn("the key has expired") }
          if let clipboard { return try clipboard.copy(kind, bytes) }
          if let output { try writeJSON(kind, bytes, to: output) } else { try write(kind, bytes, messages) }
        }
      }
    }
    guard let written else { throw revision == nil ? ToolError.noSuchKey : ToolError.noSuchRevision }
    try written.get()
  }

  private func write(
    _ kind: ValueKind, _ bytes: UnsafeRawBufferPointer, _ messages: Messages
  ) throws(ToolError) {
    let isTerminal = isatty(STDOUT_FILENO) == 1
    var endsLine = false
    if let text = ValueText(kind, bytes) {
      try Output.write(text.text)
    } else {
      if isTerminal { try ControlCharacters.check(bytes, messages) }
      try Output.write(bytes)
      endsLine = bytes.last == UInt8(ascii: "\n")
    }
    if addsNewline || isTerminal && !endsLine { try Output.write("\n") }
  }

  private func writeJSON(
    _ kind: ValueKind, _ bytes: UnsafeRawBufferPointer, to output: SecretOutput
  ) throws(ToolError) {
    try output.write("{\"key\":" + JSON.string(key).text + ",\"kind\":" + JSON.string(kind.label).text)
    if let text = ValueText(kind, bytes) {
      try output.write(",\"value\":" + text.json.text)
    } else if kind.isText {
      try output.write(",\"value\":\"")
      try output.writeEscaped(bytes)
      try output.write("\"")
    } else {
      try output.write(",\"base64\":\"")
      try output.writeBase64(bytes)
      try output.write("\"")
    }
    try output.write("}\n")
    try output.flush()
  }
}
