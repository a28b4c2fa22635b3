internal import DurableFiles
internal import Secrets
internal import VaultCore

/// The path of a file that a command is told to write. It must not be a file that the command reads, nor one that
/// belongs to a vault or mark, in any spelling and under any name.
///
/// Every command checks its paths before it reads a secret. ``WholeFile`` looks again when the file is written.
struct OutputFile {
  /// A path and what it is for, in error messages.
  typealias Named = (what: String, path: String)

  private let path: String
  private let what: String
  private let kind: OwnFile?

  /// - Parameters:
  ///   - what: what the path is for, such as "--out".
  ///   - kind: which of the package's own files is written; `nil` for any other file.
  init(_ path: String, as what: String, kind: OwnFile? = nil) {
    self.path = path
    self.what = what
    self.kind = kind
  }

  /// Refuses the path if it is one of `files` or of the configuration, or belongs to a vault or mark.
  ///
  /// - Parameters:
  ///   - descriptors: open files that the command reads.
  ///   - owners: the vault and the mark of the command, which may not exist yet.
  func check(reading files: [String], _ descriptors: [Int32] = [], besides owners: [Named]) throws(ToolError) {
    try refuseNoPath()
    let files = files + (try Configuration.paths)
    guard !files.contains(where: isSame), !descriptors.contains(where: isOpen) else {
      throw refusal("would replace a file that this command reads")
    }
    for owner in owners {
      if isSame(as: owner.path) { throw refusal("would replace \(owner.what)") }
      guard !isBeside(owner.path) else { throw refusal("has a name that belongs to \(owner.what)") }
    }
    if let reason = OwnFile.objection(to: path, writing: kind) { throw refusal(reason) }
  }

  /// Refuses `-` and a URL. That may contain a password, which must not become the name of a directory.
  func refuseNoPath() throws(ToolError) {
    try refuseDash(path, as: what)
    guard !DatabaseURL.hasScheme(path) else {
      throw .usage("\(what) is a URL, and must be a path", hint: "a path that begins so is written with ./")
    }
  }

  private func refusal(_ reason: String) -> ToolError {
    .usage("\(path): \(what) \(reason)", hint: "choose a different path")
  }

  /// Whether the two paths lead to one file, or will.
  private func isSame(as other: String) -> Bool {
    if let identity = FileIdentity(at: other), isNamed(identity) { return true }
    return isInDirectory(of: other) && PathName.last(of: path) == PathName.last(of: other)
  }

  /// Whether the path leads to the file of a descriptor.
  private func isOpen(at descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && isNamed(FileIdentity(status))
  }

  private func isNamed(_ identity: FileIdentity) -> Bool {
    identity == FileIdentity(at: path) || identity == FileIdentity(at: path, followingLinks: false)
  }

  /// Whether the path has, or is another link to, the name of a file beside `owner`, or is in its folder of requests.
  private func isBeside(_ owner: String) -> Bool {
    let resolved = PathName.resolved(owner) ?? owner
    return [owner, resolved].contains { owner in
      let name = PathName.last(of: owner)
      if isInDirectory(of: owner), OwnFile.isName(PathName.last(of: path), besides: name) { return true }
      if isInDirectory(of: RequestFolder(besideVaultAt: owner, isShared: false).path + "/") { return true }
      guard let identity = FileIdentity(at: path) else { return false }
      let directory = PathName.directory(of: owner)
      return (PathName.names(in: directory) ?? []).contains { beside in
        OwnFile.isName(beside, besides: name) && FileIdentity(at: "\(directory)/\(beside)") == identity
      }
    }
  }

  private func isInDirectory(of other: String) -> Bool {
    guard let directory = FileIdentity(at: PathName.directory(of: path)) else { return false }
    return FileIdentity(at: PathName.directory(of: other)) == directory
  }
}

/// Refuses `-` as a path, by which other programs mean standard input or output.
///
/// - Parameters:
///   - what: what the path is for, such as "--out".
///   - hint: how the command takes or writes that; `nil` if it does not.
func refuseDash(_ path: String, as what: String, hint: String? = nil) throws(ToolError) {
  guard path != "-" else { throw .usage("\(what) is -, and must be a path", hint: hint ?? "write the name - as ./-") }
}

/// Refuses `-` as the path of a file that is read. The system names standard input.
func refuseDash(reading path: String?, as what: String) throws(ToolError) {
  guard let path else { return }
  try refuseDash(path, as: what, hint: "standard input is /dev/stdin; write the name - as ./-")
}

extension VaultLocation {
  /// The vault, if it is in a file.
  var owners: [OutputFile.Named] { path.map { [("the vault", $0)] } ?? [] }
}

extension VaultAccess {
  /// The vault and its mark, which own the files with their names.
  var owners: [OutputFile.Named] {
    location.owners + (markPath.map { [("the mark", $0)] } ?? [])
  }

  /// Refuses a path that a command is told to write, see ``OutputFile``.
  ///
  /// - Parameters:
  ///   - files: the files that the command reads, besides those that unlock the vault.
  ///   - descriptor: an open file that the command reads, besides that of a passphrase.
  func checkOutput(
    _ path: String, as what: String, kind: OwnFile? = nil, reading files: [String?] = [], _ descriptor: Int32? = nil
  ) throws(ToolError) {
    // A key or identity file that is to be created may be configured already.
    let keys = kind == .key || kind == .identity ? [] : try keyFiles.map(\.path) + mountedCredentials
    let files = keys + passphraseCommandFiles + files.compactMap(\.self)
    try OutputFile(path, as: what, kind: kind)
      .check(reading: files, [passphraseDescriptor, descriptor].compactMap(\.self), besides: owners)
  }

  /// The files of the directory of systemd that unlock the vault, whether they exist or not.
  private var mountedCredentials: [String] {
    get throws(ToolError) {
      do throws(VaultError) {
        guard let directory = try Environment.credentialsDirectory else { return [] }
        return ServiceCredential.allCases.map { $0.path(in: directory) }
      } catch { throw .usage(error.message) }
    }
  }

  /// The files that the commands for the passphrase name: that of the option and that of the environment.
  private var passphraseCommandFiles: [String] {
    let configured: PassphraseCommand?
    // A command that is refused is not run.
    do throws(VaultError) { configured = try PassphraseCommand.configured() } catch { configured = nil }
    return [passphraseCommand, configured].compactMap(\.self).flatMap(\.files)
  }
}
