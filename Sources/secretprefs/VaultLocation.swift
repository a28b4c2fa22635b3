internal import DurableFiles
internal import Secrets
internal import VaultCore

/// Where a vault is: in a file, in a database, or in memory.
struct VaultLocation {
  private enum Storage {
    case file(String)
    case database(DatabaseVault)
    /// A copy of a file, and the path of that file.
    case memory(MemoryStorage, String)
  }

  /// The first bytes of a vault.
  static let signature: [UInt8] = [0x89, 0x53, 0x50, 0x56, 0x0D, 0x0A, 0x1A, 0x0A]

  private let place: Storage
  /// The option that names this place to another command, after a blank. Empty for the path that is used without one.
  let option: String

  /// The path of a file in an argument, unchecked.
  init(argument path: String) {
    place = .file(path)
    option = Self.option(path)
  }

  /// A copy in memory of the vault in a file, whatever modes and links the file has. Changes stay in memory.
  /// - Throws: the code of a file that cannot be read.
  init(copyOf path: String) throws(VaultError) {
    var options = Vault.Options()
    options.pathPolicy = .relaxed
    let storage = MemoryStorage()
    do throws(VaultError) {
      let stored = try FileStorage(path, options: options).load(limit: options.limits.fileBytes)
      try storage.create(stored.bytes.bytes).storage.release()
    } catch {
      guard error.code == .notFound else { throw error }
      throw VaultError(error.code, error.message, errno: error.errno, cause: Cure(hint: Self.copies))
    }
    place = .memory(storage, path)
    option = ""
  }

  /// No option selects a copy.
  private static let copies = "name a file that exists; \"secretprefs help git-textconv\" shows how git names it"

  private static func option(_ path: String) -> String { " --vault \(shellPath(path))" }

  /// The path or URL in `--vault`, or in `SECRETPREFS_VAULT`, or in the configuration, or the library's default path.
  ///
  /// - Parameters:
  ///   - logs: The folder in `--logs`. Otherwise that in `SECRETPREFS_LOGS` is used, for a vault in a database.
  ///   - files: The files of the configuration.
  init(option: String?, logs: String? = nil, in files: Configuration.Files = .all) throws(ToolError) {
    let folder = if let logs { logs } else { try Self.variable("SECRETPREFS_LOGS") }
    if let option {
      try refuseDash(option, as: "--vault")
      self.option = Self.option(option)
      place = try Self.place(option, folder)
    } else {
      self.option = ""
      if let url = try DatabaseURL.ofEnvironment {
        place = .database(try DatabaseVault(url, logFolder: folder))
      } else if getenv(ToolSetting.vault.variable) == nil,
        let (text, origin) = try Configuration.current(files).inFiles(.vault)
      {
        do throws(ToolError) { place = try Self.place(text, folder) } catch {
          throw error.about(origin.words(for: .vault))
        }
      } else {
        let hint = "name the vault with --vault"
        let path: String
        do throws(VaultError) { path = try Vault.defaultPath() } catch { throw .usage(error.message, hint: hint) }
        if getenv(ToolSetting.vault.variable) == nil { try ConfigurationFolder.refuseMissingHome(of: path, hint: hint) }
        place = .file(path)
      }
    }
  }

  private static func place(_ text: String, _ logFolder: String?) throws(ToolError) -> Storage {
    if let url = try DatabaseURL(text) { .database(try DatabaseVault(url, logFolder: logFolder)) } else { .file(text) }
  }

  private init(_ database: DatabaseVault) {
    place = .database(database)
    option = Self.option(database.storage.name)
  }

  /// The path of the file, also of the one that a copy in memory is of; `nil` for a vault in a database.
  var path: String? {
    switch place {
    case .file(let path), .memory(_, let path): path
    case .database: nil
    }
  }

  /// Names the place in messages and answers: the path as it was given, or the URL of the database without its user and
  /// parameters.
  var name: String {
    switch place {
    case .file(let path): path
    case .database(let vault): vault.storage.name
    case .memory(_, let name): name
    }
  }

  /// What keeps the bytes.
  ///
  /// - Parameter options: How a file is treated.
  func storage(_ options: Vault.Options) throws(VaultError) -> any VaultStorage {
    switch place {
    case .file(let path): try .file(path, options: options)
    case .database(let vault): vault.storage
    case .memory(let storage, _): storage
    }
  }

  /// The id of the vault, whatever its state. `nil` if it cannot be read.
  var identifier: Vault.Identifier? {
    switch place {
    case .file(let path): VaultInfo.identifier(at: path)
    case .database(let vault): VaultInfo.identifier(in: vault.storage)
    case .memory(let storage, _): VaultInfo.identifier(in: storage)
    }
  }

  /// Whether `salvage` may find something.
  var canBeSalvaged: Bool {
    var options = Vault.Options()
    options.pathPolicy = .relaxed
    do throws(VaultError) { return Vault.canBeSalvaged(in: try storage(options)) } catch { return false }
  }

  /// Whether a file that starts with these bytes is a vault, damaged or not.
  static func isVault(_ bytes: some Sequence<UInt8>) -> Bool { bytes.starts(with: signature.prefix(4)) }

  /// Whether anything exists at the path, or in the row.
  /// - Throws: ``VaultError/Code/io`` if the system does not allow the check; the errors of the database.
  var isOccupied: Bool {
    get throws(VaultError) {
      switch place {
      case .file(let path):
        var status = stat()
        if lstat(path, &status) == 0 { return true }
        guard errno == ENOENT || errno == ENOTDIR else {
          throw .io("\(path): examine the path")
        }
        return false
      case .database(let vault): return try vault.storage.isOccupied
      case .memory: return true
      }
    }
  }

  /// A place beside this one that is free: `shop.spv` becomes `shop.WORD.spv`, and a vault in a database gets that name
  /// in it. There is a number behind the word if the name is taken.
  func free(_ word: String) throws -> VaultLocation {
    var number = 1
    while true {
      let place = try beside(number == 1 ? word : "\(word)-\(number)")
      if try !place.isOccupied { return place }
      number += 1
    }
  }

  private func beside(_ word: String) throws(ToolError) -> VaultLocation {
    switch place {
    case .file(let path), .memory(_, let path):
      VaultLocation(argument: "\(path.hasSuffix(".spv") ? String(path.dropLast(4)) : path).\(word).spv")
    case .database(let vault): VaultLocation(try vault.sibling(word))
    }
  }

  /// Where machines ask for access to the vault: the folder beside its file, or the table of its database.
  ///
  /// - Parameter isShared: whether a folder that is created is for the group of the directory that it is in.
  func requests(isShared: Bool) -> any RequestPlace {
    switch place {
    case .file(let path), .memory(_, let path): RequestFolder(besideVaultAt: path, isShared: isShared)
    case .database(let vault): vault.requests
    }
  }

  /// What keeps a vault in a database from being changed; empty for one in a file.
  var serverProblems: [Problem] {
    get throws(VaultError) { if case .database(let vault) = place { try vault.problems } else { [] } }
  }

  /// A command that moves the file to a name that is free; `nil` for a vault in a database.
  var movingAway: String? {
    guard let path else { return nil }
    var target = path + ".damaged"
    var number = 2
    while ExaminedPath(target).status(followingLinks: false) != nil {
      target = "\(path).damaged-\(number)"
      number += 1
    }
    return "mv \(shellPath(path)) \(shellPath(target))"
  }

  /// What is there, in messages.
  var what: String { path == nil ? "the existing vault" : "the existing file" }

  /// What to do about something else at this place.
  var otherVault: String { path == nil ? Hints.otherRow : Hints.otherVault }

  /// Fails early, before the user types a passphrase twice. Creating the vault would also fail.
  ///
  /// - Parameter place: The name of the file in the error message.
  func refuseIfOccupied(_ place: StaticString) throws(VaultError) {
    guard try !isOccupied else {
      throw VaultError(
        .alreadyExists, "\(name): \(place) cannot be created: the \(path == nil ? "name" : "path") already exists",
        cause: ErrorSubject.storage(name))
    }
  }

  /// Returns the value of an environment variable, or `nil` if it is not set. An empty variable is an error, because it
  /// is probably a failed expansion and a default must not take its place.
  static func variable(_ name: String) throws(ToolError) -> String? {
    let text: String?
    do throws(VaultError) { text = try Environment.text(name) } catch { throw .usage(error.message) }
    guard text != "" else { throw .usage("the variable \(name) is empty", hint: "unset it, or give it a value") }
    return text
  }
}
