internal import VaultCore

/// What `run` passes to its command, as its options say: keys of services, the lines of env files, and named keys. Of
/// several with one name, the last of these has the variable (`Docs/Decisions/0079`).
struct VariableSelection {
  let places: [RecordPlace]
  let named: [Variable]
  let files: [EnvFile]
  let choice: KeyChoice

  /// Whether keys are passed that no option names.
  var passesServices: Bool { named.isEmpty && files.isEmpty || !choice.matching.isEmpty }

  /// The variables, in the order in which they are passed.
  func variables(_ values: ReferencedValues) throws -> [Variable] {
    var ofServices: [Variable] = []
    if passesServices {
      try checkUse(values)
      for place in places { ofServices += try keys(of: place, values) }
    }
    let variables = Variable.merged([ofServices, Self.last(of: files), named])
    // A file without a variable is no error: it is the same in all environments of a project.
    guard variables.isEmpty, files.isEmpty else { return variables }
    guard choice.isEveryKey else { throw ToolError.noMatchingKey(Self.listing) }
    throw ToolError.emptyService
  }

  private static let listing = "\"secretprefs list '<pattern>'\" shows which keys match a pattern"

  /// Refuses a service without a key, if it is one of several, and a pattern or exception that no key matches.
  private func checkUse(_ values: ReferencedValues) throws {
    var all: [String] = []
    for place in places {
      let keys = try values.service(at: place).values.keys
      guard places.count == 1 || !keys.isEmpty else {
        throw ToolError(
          VaultError(.notFound, "the service \"\(displayed(place.service.text))\" has no keys"),
          hint: "\"secretprefs services\" lists the services")
      }
      all += keys
    }
    if !all.isEmpty { try choice.checkUse(of: all, Self.listing) }
  }

  private func keys(of place: RecordPlace, _ values: ReferencedValues) throws -> [Variable] {
    try values.service(at: place).values.keys.filter(choice.includes).map { key in
      Variable(try NamedKey(of: place, key, isAlone: places.count == 1), isChosen: false)
    }
  }

  /// The variables of the files. The last line of a name counts, and the last file.
  private static func last(of files: [EnvFile]) -> [Variable] {
    var variables: [Variable] = []
    var known = Set<String>()
    for file in files.reversed() {
      for entry in file.entries.reversed() where known.insert(entry.name).inserted {
        variables.append(Variable(entry, of: file))
      }
    }
    return variables.reversed()
  }

  /// Names plain values of files whose variable is that of a key of a service that is used: the value of the key may be
  /// meant.
  func warn(_ variables: [Variable], _ values: ReferencedValues, _ messages: Messages) throws {
    let plain = variables.filter { $0.reference == nil }
    for place in plain.isEmpty ? [] : places {
      do { _ = try values.service(at: place) } catch {
        // A credential for other groups, or no such group: then there is nothing to compare with.
        let code = ToolError(thrown: error).code
        guard [VaultError.Code.groupNotGranted, .notFound].contains(where: { $0.rawValue == code }) else { throw error }
      }
    }
    try Self.warn(plain, values, messages)
  }

  /// - Parameter plain: Variables with plain values.
  static func warn(_ plain: [Variable], _ values: ReferencedValues, _ messages: Messages) throws {
    guard !plain.isEmpty else { return }
    var references: [String: SecretReference] = [:]
    for service in values.services {
      for key in try service.values.keys {
        let reference = SecretReference(service: service.name, key: key, in: service.group)
        for name in [key, VariableName.derived(from: key)] { references[name] = references[name] ?? reference }
      }
    }
    for variable in plain {
      guard let reference = references[variable.name] else { continue }
      messages.warn(
        "\(displayed(variable.origin ?? "")): \(variable.name) has a plain value here, and a value in the vault: "
          + reference.text)
    }
  }
}
