internal import DurableFiles
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

  /// Refuses the path if it is one of `files`, or belongs to a vault or mark.
  ///
  /// - Parameter owners: the vault and the mark of the command, which may not exist yet.
  func check(reading files: [String], besides owners: [Named]) throws(ToolError) {
    try refuseURL()
    for other in files where isSame(as: other) {
      throw refusal("would replace a file that this command reads")
    }
    for owner in owners {
      if isSame(as: owner.path) { throw refusal("would replace \(owner.what)") }
      guard !isBeside(owner.path) else { throw refusal("has a name that belongs to \(owner.what)") }
    }
    if let reason = OwnFile.objection(to: path, writing: kind) { throw refusal(reason) }
  }

  /// Refuses a URL. It may contain a password, which must not become the name of a directory.
  func refuseURL() throws(ToolError) {
    guard !DatabaseURL.hasScheme(path) else {
      throw .usage("\(what) is a URL, and must be the path of a file", hint: "a path that begins so is written with ./")
    }
  }

  private func refusal(_ reason: String) -> ToolError {
    .usage("\(path): \(what) \(reason)", hint: "choose a different path")
  }

  /// Whether the two paths lead to one file, or will.
  private func isSame(as other: String) -> Bool {
    if let identity = FileIdentity(at: other),
      identity == FileIdentity(at: path) || identity == FileIdentity(at: path, followingLinks: false)
    {
      return true
    }
    return isInDirectory(of: other) && PathName.last(of: path) == PathName.last(of: other)
  }

  /// Whether the path has, or is another link to, the name of a file beside `owner`.
  private func isBeside(_ owner: String) -> Bool {
    let resolved = PathName.resolved(owner) ?? owner
    return [owner, resolved].contains { owner in
      let name = PathName.last(of: owner)
      if isInDirectory(of: owner), OwnFile.isName(PathName.last(of: path), besides: name) { return true }
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
  /// - Parameter files: the files that the command reads, besides those that unlock the vault.
  func checkOutput(
    _ path: String, as what: String, kind: OwnFile? = nil, reading files: [String?] = []
  ) throws(ToolError) {
    // A key or identity file that is to be created may be configured already.
    let keys = kind == .key || kind == .identity ? [] : try keyFiles.map(\.path)
    try OutputFile(path, as: what, kind: kind).check(reading: keys + files.compactMap(\.self), besides: owners)
  }
}
