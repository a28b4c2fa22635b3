internal import Glibc
internal import VaultCore

/// What `get` does, however its arguments were understood.
struct GetValue: Work {
  let access: VaultAccess
  let service: String
  let group: String
  let key: String
  var addsNewline = false
  var isJSON = false

  func perform(_ messages: Messages) throws {
    let service = try Name(service)
    let vault = try access.open(messages)
    let group = try vault.group(named: group)
    let written = try vault.withValue(service: service, key: key, in: group) { kind, bytes in
      Result { () throws(ToolError) in
        if isJSON { try writeJSON(kind, bytes) } else { try write(kind, bytes, messages) }
      }
    }
    guard let written else { throw ToolError.noSuchKey }
    try written.get()
  }

  private func write(
    _ kind: ValueKind, _ bytes: UnsafeRawBufferPointer, _ messages: Messages
  ) throws(ToolError) {
    if let text = ValueText(kind, bytes) {
      try Output.write(text.text)
    } else {
      // The bytes are what was asked for, so they go out as they are; but a terminal obeys some of them.
      if isatty(STDOUT_FILENO) == 1, ControlCharacters.stand(in: bytes) {
        messages.warn("the value contains control characters")
      }
      try Output.write(bytes)
    }
    if addsNewline { try Output.write("\n") }
  }

  private func writeJSON(_ kind: ValueKind, _ bytes: UnsafeRawBufferPointer) throws(ToolError) {
    let output = SecretOutput()
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
