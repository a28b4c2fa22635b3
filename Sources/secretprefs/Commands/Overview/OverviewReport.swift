internal import VaultCore

/// What `overview` shows.
struct OverviewReport {
  private enum State: String { case missing, locked, unlocked, unopened }

  private let place: String
  /// Names the place to another command.
  private let option: String
  /// Where the place comes from.
  private let origin: SettingOrigin
  private var state = State.missing
  /// Why the vault does not open.
  private(set) var failure: ToolError?
  /// Whether a passphrase can unlock the vault.
  private var hasPassphrase = false
  /// What is wrong with reads, or will soon be, with the mount of the file, or with the end of the journal.
  private var problem: String?
  /// What opened the vault.
  private var source: CredentialSource?
  private var services: [ServiceCount] = []
  private var expiring = 0
  /// The number of rotations that are not confirmed.
  private var rotations = 0

  private var keys: Int { services.reduce(0) { $0 + $1.keys } }
  /// A service can have keys in several access groups.
  private var serviceNames: Set<Vault.Name> { Set(services.map(\.service)) }
  private var expired: Int { services.reduce(0) { $0 + $1.expired } }

  /// - Parameter origin: where the place of the vault comes from.
  init(_ access: VaultAccess, _ origin: SettingOrigin, _ messages: Messages) {
    place = access.location.name
    option = access.namingOptions
    self.origin = origin
    do { try examine(access, messages) } catch {
      state = .unopened
      failure = ToolError(thrown: error)
    }
  }

  private mutating func examine(_ access: VaultAccess, _ messages: Messages) throws {
    guard try access.location.isOccupied else { return }
    do throws(VaultError) { hasPassphrase = try access.info().hasPassphrase } catch { throw access.explained(error) }
    guard let opened = try access.openIfConfigured(messages) else {
      state = .locked
      return
    }
    state = .unlocked
    source = opened.source
    switch opened.vault.health() {
    case .degraded(_, let error), .failing(let error): problem = error.message
    case .ready(let status) where status.isFrozen: problem = FrozenVault.words
    case .ready, .locked: problem = try opened.vault.tornTail?.words
    }
    let now = access.options.now()
    let records = try ListedRecord.all(service: nil, in: try opened.vault.groupsInOrder(), of: opened.vault)
    services = ServiceCount.all(records, at: now)
    let expiry = try ExpiryRule()
    expiring = records.count { expiry.isDue($0.info, at: now) }
    rotations = records.count { RotationMark.isPending(in: $0.info) }
  }

  var text: String {
    var rows = [["vault", displayed(place)]]
    switch state {
    case .missing: rows += [["state", "there is none"], ["next", "secretprefs init\(option)"]]
    case .locked:
      let next = hasPassphrase ? "unlock\(option), or name a key file" : "unlock\(option) --key-file <file>"
      rows += [["state", "locked: no credential is configured"], ["next", "secretprefs \(next)"]]
    case .unlocked:
      rows.append(["state", "opens with \(source?.rawValue ?? "")"])
      if let problem { rows.append(["problem", displayed(problem)]) }
      let places = counted(serviceNames.count, "service", "services")
      rows.append(["keys", keys == 0 ? "none" : "\(counted(keys, "key", "keys")) in \(places)"])
      let due = [
        expired > 0 ? "\(counted(expired, "key has", "keys have")) expired" : nil,
        expiring > 0 ? "\(counted(expiring, "expires", "expire")) within \(ExpiryRule.usualText)" : nil,
        rotations > 0 ? "\(counted(rotations, "rotation is", "rotations are")) not confirmed" : nil,
      ].compactMap(\.self)
      rows.append(["due", due.isEmpty ? "nothing" : due.joined(separator: ", ")])
      rows.append(["next", next])
    case .unopened:
      rows = [["vault", "\(displayed(place)) (\(displayed(origin.words(for: .vault))))"]]
      rows += [["state", "does not open: \(displayed(reason))"], ["next", "secretprefs doctor\(option)"]]
    }
    return Table(rows: rows + [["help", "secretprefs help"]]).text
  }

  private var reason: String { withoutPasswords(failure?.message ?? "") }

  private var next: String {
    if problem != nil { return "secretprefs doctor\(option)" }
    if keys == 0 { return "secretprefs set <key>\(option)" }
    if expired + expiring > 0 {
      return "secretprefs list --expires-within \(ExpiryRule.usual) --all-services --all-groups\(option)"
    }
    return (rotations > 0 ? "secretprefs doctor" : "secretprefs services") + option
  }

  var json: JSON {
    var members: [(String, JSON)] = [("vault", .string(place)), ("state", .string(state.rawValue))]
    if state == .unopened { members += origin.members + [("problem", .string(reason))] }
    if state == .unlocked, let source {
      members += [
        ("credential", .string(source.rawValue)), ("problem", problem.map { .string($0) } ?? .null),
        ("services", .unsigned(UInt64(serviceNames.count))),
        ("keys", .unsigned(UInt64(keys))), ("expired", .unsigned(UInt64(expired))),
        ("expiring", .unsigned(UInt64(expiring))), ("rotations", .unsigned(UInt64(rotations))),
      ]
    }
    return .object(members)
  }
}
