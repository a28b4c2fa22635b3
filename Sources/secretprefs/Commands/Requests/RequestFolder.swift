internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// The folder in which machines leave requests for access to a vault.
struct RequestFolder: RequestPlace {
  /// The end of its name, behind the name of the vault. `OwnFile` knows it, too.
  private static let suffix = ".requests"

  let path: String
  /// Whether a folder that is created is for the group of the directory that it is in.
  private let isShared: Bool

  init(_ path: String, isShared: Bool) {
    self.path = path
    self.isShared = isShared
  }

  init(besideVaultAt path: String, isShared: Bool) { self.init(path + Self.suffix, isShared: isShared) }

  /// - Throws: ``VaultError/Code/io`` if the folder cannot be read, or is not one. A folder that does not exist has no
  ///   requests.
  func contents() throws -> RequestContents {
    var contents = RequestContents(place: "the folder", part: "file")
    guard let folder = try open() else { return contents }
    defer { extendLifetime(folder) }
    guard let names = folder.names(atMost: RequestContents.most) else {
      throw VaultError.io("\(path): list the requests")
    }
    contents.isWhole = names.isWhole
    for name in names.names.sorted() where !TemporaryName.isForm(of: name) {
      do { contents.requests.append(try Request(name, in: folder)) } catch let error as VaultError {
        guard error.errno != ENOENT else { continue }
        let found = (name: "\(path)/\(name)", reason: error.message)
        guard ![EACCES, EPERM].contains(error.errno) else {
          contents.unread.append(found)
          continue
        }
        guard error.isOfFile else {
          throw VaultError(error.code, "\(found.name): \(error.message)", errno: error.errno)
        }
        contents.refused.append(found)
      }
    }
    // Stable, so that files of one time are in the order of their names.
    contents.requests.sort { $0.time < $1.time }
    return contents
  }

  /// In a folder that cannot be listed, all digits of a public key are the name of its request.
  func contents(for choice: RequestChoice) throws -> RequestContents {
    do { return try contents() } catch let error as VaultError {
      guard error.errno == EACCES, choice.isWhole, let folder = try open() else { throw error }
      defer { extendLifetime(folder) }
      let name = choice.digits
      var contents = RequestContents(isWhole: false, place: "the folder", part: "file")
      do { contents.requests = [try Request(name, in: folder)] } catch let error as VaultError {
        guard error.errno == ENOENT else {
          throw VaultError(error.code, "\(path)/\(name): \(error.message)", errno: error.errno)
        }
      }
      return contents
    }
  }

  /// Writes a request, in place of the one with the same public key. It is complete when it gets its name.
  func add(_ publicKey: VaultIdentity.PublicKey, note: String) throws -> AddedRequest {
    let status = ExaminedPath(path).status(followingLinks: false)
    let makesFolder = status == nil
    if makesFolder { try make() }
    // No request is read through a link.
    guard status.map({ $0.st_mode & S_IFMT == S_IFDIR }) ?? true else {
      throw VaultError(.io, "\(path): the folder of requests is not a directory", errno: ENOTDIR)
    }
    let file = "\(path)/\(publicKey.digits)"
    try checkReplaceable(publicKey.digits)
    let text = Array(Request.text(publicKey, note: note).utf8)
    _ = try WholeFile<VaultError>(file).replace { (descriptor) throws(VaultError) in
      // For an owner who is a different user; the umask may have removed that.
      guard fchmod(descriptor.raw, 0o644) == 0 else { throw .io("\(file): set the mode") }
      try descriptor.write(text, at: 0)
      try descriptor.synchronize()
    }
    try synchronize()
    let owner = isShared ? "the group" : "this user"
    return AddedRequest(
      name: file,
      remark: makesFolder
        ? "created \(displayed(path)) for \(owner); its mode decides who may leave requests" : nil)
  }

  /// Refuses a file of this name that is not a request: it is not ours to replace.
  private func checkReplaceable(_ name: String) throws {
    guard ExaminedPath("\(path)/\(name)").status(followingLinks: false) != nil, let folder = try open() else {
      return
    }
    defer { extendLifetime(folder) }
    do { _ = try Request(name, in: folder) } catch let error as VaultError {
      guard error.errno != ENOENT else { return }
      throw VaultError(
        .alreadyExists, "\(path)/\(name): \(error.message); only a request is replaced", errno: error.errno,
        cause: Cure(hint: "move the file to a different place"))
    }
  }

  private func make() throws {
    let parent = PathName.directory(of: path)
    guard let status = ExaminedPath(parent).status() else { throw VaultError(.create, path, errno: ENOENT) }
    try Descriptor<VaultError>.makeDirectory(path, isPrivate: true)
    // By its descriptor: a member of the group can put a link in the place of the path.
    guard isShared, status.st_mode & 0o020 != 0 else { return }
    let folder = try Descriptor<VaultError>.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, refusal: notOpened)
    defer { extendLifetime(folder) }
    guard fchown(folder.raw, uid_t.max, status.st_gid) == 0, fchmod(folder.raw, 0o2770) == 0 else {
      throw VaultError.io("\(path): give the folder to the group")
    }
  }

  /// Removes the files of these requests, and returns their paths.
  func remove(_ requests: [Request]) throws -> [String] {
    guard let folder = try open() else { return [] }
    defer { extendLifetime(folder) }
    var removed: [String] = []
    for case .file(let name, _) in requests.map(\.origin) {
      guard folder.remove(name) else {
        if errno == ENOENT { continue }
        throw VaultError.io("\(path)/\(name): remove the request")
      }
      removed.append("\(path)/\(name)")
    }
    try synchronize()
    return removed
  }

  /// Makes the names durable. A folder that others may write to, and not read, cannot be synced.
  private func synchronize() throws(VaultError) {
    do throws(VaultError) { _ = try Descriptor<VaultError>.synchronizeDirectory(path) } catch {
      throw VaultError(.durabilityUnknown, error.message, errno: error.errno, cause: error)
    }
  }

  /// `nil` if there is no folder. A symbolic link in its place is refused.
  private func open() throws(VaultError) -> Descriptor<VaultError>? {
    do throws(VaultError) {
      return try Descriptor<VaultError>.openFolder(path, refusal: notOpened)
    } catch {
      guard error.errno == ENOENT else { throw error }
      return nil
    }
  }

  private func notOpened(_ number: Int32) -> VaultError { .io("\(path): open the folder of requests", number) }
}

extension VaultError {
  /// Whether the file is the reason, and not the system: then it is unknown what the file has.
  fileprivate var isOfFile: Bool { code != .io || errno == ENXIO }
}

extension VaultIdentity.PublicKey {
  /// The digits of the text.
  var digits: String { String(description.dropFirst(KeyText.Form.publicKey.prefix.count)) }
}
