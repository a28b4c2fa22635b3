internal import VaultCore

extension RecordInfo {
  /// Whether the expiry has passed.
  func isExpired(at now: Int64) -> Bool { expiry.map { $0 <= now } ?? false }

  /// The columns of `list --long`.
  ///
  /// - Parameter value: The value, if it is no secret.
  func row(at now: Int64, _ value: String?) -> [String] {
    [
      displayed(key.text), "\(revision)", kind.label, Timestamp.text(of: modified),
      expiry.map { "\(isExpired(at: now) ? "expired" : "expires") \(Timestamp.text(of: $0))" } ?? "", value ?? "",
    ]
  }

  /// The output of `info`.
  ///
  /// - Parameter value: The value, if it is no secret.
  func text(at now: Int64, _ value: String?) -> String {
    var lines = [
      ("key", displayed(key.text)), ("kind", kind.label), ("accessible", accessibility.name),
      ("revision", "\(revision)"),
      ("created", Timestamp.text(of: created)), ("modified", Timestamp.text(of: modified)),
    ]
    if !isSecret { lines.append(("secret", "no")) }
    if let value { lines.append(("value", value)) }
    if let label { lines.append(("label", displayed(label))) }
    if let comment { lines.append(("comment", displayed(comment))) }
    if let expiry { lines.append((isExpired(at: now) ? "expired" : "expires", Timestamp.text(of: expiry))) }
    for attribute in attributes { lines.append(("attribute", attribute.words)) }
    if historyDepth > 0 { lines.append(("keeps", counted(Int(historyDepth), "earlier value", "earlier values"))) }
    for value in previous {
      let time = Timestamp.text(of: value.modified)
      lines.append(("earlier", "revision \(value.revision), \(value.kind.label), \(time)"))
    }
    return Table(rows: lines.map { [$0.0, $0.1] }).text
  }

  /// The JSON members in the output of `list`.
  func members(at now: Int64) -> [(String, JSON)] {
    var members: [(String, JSON)] = [
      ("service", .string(service.text)), ("key", .string(key.text)), ("kind", .string(kind.label)),
      ("accessibility", .string(accessibility.name)), ("revision", .unsigned(revision)), ("created", .time(created)),
      ("modified", .time(modified)), ("secret", .bool(isSecret)),
    ]
    if let label { members.append(("label", .string(label))) }
    if let comment { members.append(("comment", .string(comment))) }
    if let expiry { members += [("expiry", .time(expiry)), ("expired", .bool(isExpired(at: now)))] }
    return members
  }
}

extension RecordEdit.Attribute {
  /// `nil` if the data is not UTF-8.
  var text: String? { String(validating: data, as: UTF8.self) }

  var words: String {
    displayed(name.text) + (text.map { "=\(displayed($0))" } ?? ", \(counted(data.count, "byte", "bytes"))")
  }

  var json: JSON {
    let content: (String, JSON) = text.map { ("text", .string($0)) } ?? ("bytes", .unsigned(UInt64(data.count)))
    return .object([("name", .string(name.text)), content])
  }
}
