internal import Preferences

/// The logins in docker's `config.json`, podman's `auth.json`, and the secrets of Kubernetes with their form. The keys
/// are those of the credential helper.
///
/// The members are read as docker reads them: `identitytoken` before `auth`, and `auth` before `username` and
/// `password`; names in any case; the last of several members of one name, and the last of several logins of one
/// registry as a whole.
struct DockerParser {
  private static let logins = "auths"
  /// The members of a login.
  private static let members = [
    "auth", "username", "password", "identitytoken", "registrytoken", "email", "serveraddress",
  ]

  /// The members at the top level of docker's `config.json` (`docker/cli`, `cli/config/configfile/file.go`).
  private static let settings = [
    logins, "HttpHeaders", "psFormat", "imagesFormat", "networksFormat", "pluginsFormat", "volumesFormat",
    "statsFormat", "detachKeys", "credsStore", "credHelpers", "serviceInspectFormat", "servicesFormat", "tasksFormat",
    "secretFormat", "configFormat", "nodesFormat", "pruneFilters", "proxies", "currentContext",
    "cliPluginsExtraDirs", "plugins", "aliases", "features", "experimental", "stackOrchestrator", "kubernetes",
  ]

  private let bytes: UnsafeMutableRawBufferPointer
  private var records = PlainRecords()
  /// The members at the top level that name a program with the logins, by registry.
  private var helpers: [String: String] = [:]
  private var store: String?

  private init(bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

  /// Whether the document has logins where docker has them, or is a file of docker that says which program keeps them.
  static func recognizes(_ leaves: [JSONLeaf]) -> Bool {
    leaves.contains { isNamed($0.path[0].text, logins) && isOfLogin($0) }
      || !registries(leaves, isKnown: false).isEmpty
      || leaves.contains { isNamed($0.path[0].text, "credsStore") || isNamed($0.path[0].text, "credHelpers") }
        && leaves.allSatisfy { leaf in settings.contains { isNamed(leaf.path[0].text, $0) } }
  }

  private static func isOfLogin(_ leaf: JSONLeaf) -> Bool {
    leaf.place.depth > 2 ? members.contains { isNamed(leaf.path[2].text, $0) } : leaf.kind == .emptyObject
  }

  /// The registries at the top level of a `.dockercfg`; empty for any other file. Other JSON has members of these names
  /// too, but then none of its names is a host, or some have other members.
  ///
  /// - Parameter isKnown: whether the file is known to be of docker.
  private static func registries(_ leaves: [JSONLeaf], isKnown: Bool) -> Set<String> {
    var (names, withAuth): (Set<String>, Set<String>) = ([], [])
    var hasOthers = false
    for path in leaves.map(\.path) {
      let name = path[0].text
      if isNamed(name, logins) { return [] }
      names.insert(name)
      if path.count == 2, isNamed(path[1].text, "auth") { withAuth.insert(name) }
      hasOthers = hasOthers || path.count != 2 || !members.contains { isNamed(path[1].text, $0) }
    }
    guard !hasOthers, isKnown || !withAuth.isEmpty else { return isKnown ? withAuth.subtracting(settings) : [] }
    let hosts = names.filter(isRegistry)
    return isKnown || hosts == names || !hosts.isEmpty && withAuth == names ? names.subtracting(settings) : []
  }

  /// Whether a name is that of a host, as docker tells it from a part of an image's name, or a URL.
  private static func isRegistry(_ name: String) -> Bool {
    name == "localhost" || name.contains(".") || name.contains(":")
  }

  /// - Parameter isKnown: whether the file is known to be of docker, by its name or by an option.
  static func records(
    of leaves: [JSONLeaf], in bytes: UnsafeMutableRawBufferPointer, isKnown: Bool
  ) throws(PlainFault) -> PlainRecords {
    var parser = DockerParser(bytes: bytes)
    let oldRegistries = Self.registries(leaves, isKnown: isKnown)
    let depth = oldRegistries.isEmpty ? 2 : 1
    let leaves = GuardedJSONParser.decoded(leaves, in: bytes)
    var settings: Set<String> = []
    var registries: [String: [JSONLeaf]] = [:]
    var order: [String] = []
    for leaf in leaves {
      let path = leaf.path
      if oldRegistries.contains(path[0].text) || isNamed(path[0].text, logins) {
        guard path.count >= depth else {
          try parser.records.skip(path[0].text, "no logins", line: leaf.line)
          continue
        }
        let registry = path[depth - 1].text
        if registries[registry] == nil { order.append(registry) }
        registries[registry, default: []].append(leaf)
      } else {
        try parser.add(setting: leaf, isFirst: settings.insert(path[0].text).inserted)
      }
    }
    for registry in order {
      do throws(PlainFault) { try parser.add(registry, registries[registry] ?? [], below: depth) } catch {
        guard !error.isFatal else { throw error }
        try parser.records.refuse(
          PlainFault(line: error.line, name: registry, reason: error.reason, isLimit: error.isLimit))
      }
    }
    return parser.records
  }

  /// Go's JSON decoder, which docker uses, finds members in any case of their letters.
  private static func isNamed(_ text: String, _ name: String) -> Bool { matches(text.utf8, name) }

  /// Adds a part of a setting of docker.
  private mutating func add(setting leaf: JSONLeaf, isFirst: Bool) throws(PlainFault) {
    let path = leaf.path
    let name = path[0].text
    let isHelper = Self.isNamed(name, "credHelpers") && path.count == 2 && leaf.kind == .text
    let isStore = Self.isNamed(name, "credsStore") && path.count == 1 && leaf.kind == .text
    let program = isHelper || isStore ? leaf.cutName(in: bytes) : ""
    // Without a name there is no program, also for a registry that has one for all others.
    if isHelper { helpers[path[1].text] = program }
    if isStore { store = program }
    if isHelper, !program.isEmpty {
      try records.skip(
        "\(name).\(path[1].text)", "the login is kept by docker-credential-\(program)", line: leaf.line)
    } else if isStore, !program.isEmpty {
      try records.skip(name, "all other logins are kept by docker-credential-\(program)", line: leaf.line)
    } else if isFirst {
      try records.skip(name, "a setting of docker, and no login", line: leaf.line)
    }
  }

  /// Adds the login of a registry.
  private mutating func add(_ registry: String, _ leaves: [JSONLeaf], below depth: Int) throws(PlainFault) {
    let leaves = try lastLogin(registry, leaves, below: depth)
    var found: [String: JSONLeaf] = [:]
    let line = leaves[0].line
    for leaf in leaves where leaf.place.depth > depth {
      let path = leaf.path
      let text = path[depth...].map(\.text).joined(separator: ".")
      let name = Self.members.first { Self.isNamed(text, $0) }
      if let name, leaf.kind == .text {
        if let earlier = found[name] {
          try records.skip("\(registry)/\(name)", "docker reads a later member of the name", line: earlier.line)
        }
        // An empty text is the same as none.
        found[name] = leaf.bytes.isEmpty ? nil : leaf
      } else if leaf.kind != .null, leaf.kind != .emptyObject {
        try records.skip("\(registry)/\(text)", "no part of a login that docker reads", line: leaf.line)
      }
    }
    for name in ["registrytoken", "email", "serveraddress"] {
      guard let leaf = found[name] else { continue }
      let reason = name == "registrytoken" ? "a credential helper cannot give such a token" : "no part of the login"
      try records.skip("\(registry)/\(name)", reason, line: leaf.line)
    }
    if let token = found["identitytoken"] {
      for name in ["auth", "username", "password"] {
        guard let leaf = found[name], name != "auth" || !isWithoutPassword(leaf) else { continue }
        try records.skip("\(registry)/\(name)", "docker uses the identity token", line: leaf.line)
      }
      try add(registry, token.bytes, line: token.line, login: .docker(user: DockerCredential.tokenUser))
    } else if let auth = found["auth"] {
      try add(registry, auth: auth, found["username"], found["password"])
    } else if let user = found["username"], let password = found["password"] {
      try add(registry, user: try user.name(in: bytes), password.bytes, line: password.line)
    } else if let half = found["username"] ?? found["password"] {
      try records.refuse(
        PlainFault(line: half.line, name: registry, reason: "a login without a user name or without a password"))
    } else if found["registrytoken"] == nil {
      let program = program(of: registry)
      try records.skip(
        registry, program.map { "the login is kept by docker-credential-\($0)" } ?? "no login", line: line)
    }
  }

  /// The name of the program that docker asks for the login of a registry, if there is one.
  private func program(of registry: String) -> String? {
    guard let name = helpers[registry] ?? store, !name.isEmpty else { return nil }
    return name
  }

  /// Adds a login, also if docker does not read it from the file: no other place is known to have it.
  private mutating func add(
    _ registry: String, _ password: Range<Int>, line: Int, login: PlainRecords.Login
  ) throws(PlainFault) {
    let note = program(of: registry).map { "docker asks docker-credential-\($0), which may have another login" }
    try records.add(registry, password, line: line, login: login, isSecret: true, note: note)
  }

  /// The parts of the last login of a registry. Go's JSON decoder begins a value of a map anew.
  private mutating func lastLogin(
    _ registry: String, _ leaves: [JSONLeaf], below depth: Int
  ) throws(PlainFault) -> [JSONLeaf] {
    var login: [JSONLeaf] = []
    for leaf in leaves {
      if let first = login.first, first.place.at(depth: depth) !== leaf.place.at(depth: depth) {
        try records.skip(registry, "docker reads a later login of the registry", line: first.line)
        login = []
      }
      login.append(leaf)
    }
    return login
  }

  /// Adds the login in `auth`, which docker uses before the other two members.
  private mutating func add(
    _ registry: String, auth: JSONLeaf, _ user: JSONLeaf?, _ password: JSONLeaf?
  ) throws(PlainFault) {
    guard let login = DecodedText.goBase64(auth.bytes, in: bytes),
      let colon = bytes[login].firstIndex(of: UInt8(ascii: ":")), colon > login.lowerBound,
      let name = String(validating: bytes[login.lowerBound..<colon], as: UTF8.self)
    else {
      return try records.refuse(
        PlainFault(line: auth.line, name: registry, reason: "a login that is not base64 of user:password"))
    }
    let secret = withoutNULs(colon + 1..<login.upperBound)
    for (member, own) in [
      ("username", user.map { (leaf: $0, range: login.lowerBound..<colon) }),
      ("password", password.map { (leaf: $0, range: secret) }),
    ] {
      guard let own, !bytes[own.leaf.bytes].elementsEqual(bytes[own.range]) else { continue }
      try records.skip("\(registry)/\(member)", "docker uses the one in auth, which is different", line: own.leaf.line)
    }
    try add(registry, user: name, secret, line: auth.line)
  }

  /// Whether an `auth` has a user name alone, as Azure writes it beside a token.
  private func isWithoutPassword(_ auth: JSONLeaf) -> Bool {
    guard let login = DecodedText.goBase64(auth.bytes, in: bytes),
      let colon = bytes[login].firstIndex(of: UInt8(ascii: ":"))
    else { return false }
    return withoutNULs(colon + 1..<login.upperBound).isEmpty
  }

  private mutating func add(
    _ registry: String, user: String, _ password: Range<Int>, line: Int
  ) throws(PlainFault) {
    guard !hasControlCharacter(user.utf8) else {
      return try records.refuse(PlainFault(line: line, name: registry, reason: "a user name with a control character"))
    }
    guard !password.isEmpty else { return try records.skip(registry, "a login without a password", line: line) }
    try add(registry, password, line: line, login: .docker(user: user))
  }

  /// docker removes the NUL bytes at both ends of a password, with which old versions filled it up.
  private func withoutNULs(_ range: Range<Int>) -> Range<Int> {
    let text = bytes[range].drop { $0 == 0 }
    return text.startIndex..<(text.lastIndex { $0 != 0 }.map { $0 + 1 } ?? text.startIndex)
  }
}
