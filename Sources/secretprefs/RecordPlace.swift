internal import VaultCore

/// The service and access group that a command works on, from its options, the environment and the
/// configuration.
struct RecordPlace: Equatable {
  let service: Vault.Name
  private let groupName: String?
  /// The options that name this place to another command, each after a blank. Empty for what is used without them.
  let options: String
  /// Whether a reference names it. Then a hint names keys by references, because options are refused beside one, and a
  /// key alone would be one of another service.
  private let isReference: Bool

  /// The service and group of options, or of the environment and the configuration.
  init(service: String?, group: String?) throws {
    self.service = try Vault.Name(try Configuration.value(of: .service, option: service))
    groupName = try group ?? Configuration.value(of: .group)
    options = [("service", service), ("group", group)]
      .compactMap { name, value in value.map { " --\(name) \(shellWord($0))" } }.joined()
    isReference = false
  }

  /// The place of the logins of a credential helper, from its options and the user's own file: the variables and the
  /// project may be those of the program that happens to start git or docker.
  init(helper service: String, group: String?) throws {
    self.service = try Vault.Name(service)
    groupName = try group ?? Configuration.current(.ofUser).inFiles(.group)?.text
    options = ""
    isReference = false
  }

  /// The place of a reference, in which neither the environment nor the configuration has a part.
  init(of reference: SecretReference) throws(ToolError) {
    service = reference.service
    groupName = reference.group
    let others = try Configuration.value(of: .group) == nil ? nil : AccessGroup.defaultName
    options =
      " --service \(shellWord(service.text))"
      + ((reference.group ?? others).map { " --group \(shellWord($0))" } ?? "")
    isReference = true
  }

  static func == (first: RecordPlace, second: RecordPlace) -> Bool {
    first.service == second.service
      && first.groupName ?? AccessGroup.defaultName == second.groupName ?? AccessGroup.defaultName
  }

  /// The reference to a key of this place.
  func reference(to key: String) throws(VaultError) -> SecretReference {
    SecretReference(group: groupName, service: service, key: try Vault.Name(key).text)
  }

  /// Returns the named access group. Without a name, returns `default`, or the only group that a group credential
  /// opens.
  func group(in vault: Vault) throws -> AccessGroup {
    if let groupName { return try vault.grantedGroup(groupName) }
    do throws(VaultError) { return try vault.group() } catch {
      // Not for an owner: if `default` is removed, a script's writes must not go to another group and its holders.
      guard error.code == .groupNotGranted else { throw error }
      let isOwner = try vault.isOwner
      let groups = try isOwner ? [] : vault.groups()
      guard groups.count < 2 else {
        throw ToolError(
          error,
          message: "the credential opens \(groups.count) access groups, and none is \"\(AccessGroup.defaultName)\"",
          hint: namingGroup)
      }
      guard let only = groups.first else {
        let message = "the vault has no access group \"\(AccessGroup.defaultName)\""
        throw ToolError(isOwner ? VaultError(.notFound, message) : error, message: message, hint: namingGroup)
      }
      return only
    }
  }

  private var namingGroup: String {
    isReference
      ? "?group=name behind the reference names one; \"secretprefs groups list\" lists them"
      : "name one with --group; \"secretprefs groups list\" lists them"
  }

  /// What to do if none of the keys that there are is known to be meant.
  var keysHint: String { isReference ? Hints.references : Hints.keys }

  /// The error for a missing key. It names the key only if the vault has it: if the key was removed and is kept, or a
  /// different service has it, which the credential can list.
  ///
  /// - Parameter hint: What to do if the key was meant as a pattern; `nil` for how it is listed.
  func noSuchKey(
    _ key: String, in group: AccessGroup, of vault: Vault, pattern hint: String? = nil
  ) throws(VaultError) -> ToolError {
    let name = try Vault.Name(key)
    if let program = ForeignReference.name(ofArgument: key) { return .foreignReference(program) }
    if let removed = try vault.removedRecord(service: service, key: key, in: group) {
      // After a move to another group the key is removed from this one.
      var others: [String] = []
      for other in try vault.groupsInOrder() where other.id != group.id {
        if try vault.record(service: service, key: key, in: other) != nil { others.append(other.name.text) }
      }
      return .removedKey(removed.key.text, options, nowIn: others)
    }
    // It may be a key of the group "default", which the credential does not open.
    guard !isReference || groupName != nil || group.name.text == AccessGroup.defaultName else {
      return ToolError(
        VaultError(.notFound, "there is no such key in \"\(group.name.text)\", which the credential opens"),
        hint: Hints.references)
    }
    let services = try vault.records(in: group).filter { $0.key == name }.map(\.service)
    guard services.isEmpty else {
      let error = ToolError.noSuchKey(name.text, of: services.map(\.text))
      let references = services.map { SecretReference(service: $0, key: name.text, in: group).text }
      return isReference ? error.with(hint: "did you mean \(listed(references))?") : error
    }
    return try noSuchKey(key, among: try vault.keys(service: service, in: group), pattern: hint)
  }

  /// - Parameters:
  ///   - key: What was given. It is not repeated, because it may be a secret in the wrong place.
  ///   - keys: The keys of this place.
  ///   - hint: What to do if the key was meant as a pattern; `nil` for how it is listed.
  func noSuchKey(_ key: String, among keys: [String], pattern hint: String? = nil) throws(VaultError) -> ToolError {
    if key.contains(where: { "*?[".contains($0) }) {
      return ToolError(
        VaultError(.notFound, "there is no such key; a key is not a pattern"), hint: hint ?? Hints.patterns(options))
    }
    // Bounds the cost of the comparison.
    let near = key.utf8.count <= 100 && keys.count <= 1000 ? nearest(key, among: keys) : nil
    guard let near else { return ToolError.noSuchKey.with(hint: keysHint) }
    let meant = try reference(to: near).text
    return ToolError.noSuchKey.with(
      hint: isReference || shellKey(near) != shellWord(near)
        ? "did you mean \(meant)?" : "did you mean \(shellWord(near))? \"secretprefs list\" lists the keys")
  }
}
