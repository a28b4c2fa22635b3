#if PostgreSQL
  internal import VaultCore
  internal import VaultPostgres

  /// The requests for access to a vault in a database, which are rows of a table.
  struct RequestTable: RequestPlace {
    private let storage: PostgresStorage

    init(_ storage: PostgresStorage) { self.storage = storage }

    func contents() throws -> RequestContents {
      let rows = try storage.requests.rows(atMost: RequestContents.most + 1)
      var contents = RequestContents(
        isWhole: rows.count <= RequestContents.most, place: "the table", part: "row")
      for row in rows.prefix(RequestContents.most) {
        do throws(VaultError) { contents.requests.append(try Request(row)) } catch {
          contents.refused.append(("a row of the role \(row.role) in \(storage.name)", error.message))
        }
      }
      return contents
    }

    func add(_ publicKey: VaultIdentity.PublicKey, note: String) throws -> AddedRequest {
      AddedRequest(name: try storage.requests.add(publicKey, note: note))
    }

    func remove(_ requests: [Request]) throws -> [String] {
      guard let publicKey = requests.first?.publicKey else { return [] }
      return try storage.requests.remove(publicKey)
    }
  }

  extension Request {
    /// - Throws: ``VaultError/Code/malformed`` or ``VaultError/Code/invalidKeyText`` if the row is not a request. The
    ///   message has nothing of the content, which may be a secret in the wrong place.
    fileprivate init(_ row: PostgresRequests.Row) throws(VaultError) {
      guard let key = row.publicKey else { throw Self.refusal("its public key is too long") }
      let publicKey = try VaultIdentity.PublicKey(key)
      guard let note = row.note else {
        throw Self.refusal("its note is longer than \(VaultIdentity.longestNote) bytes")
      }
      guard let time = row.time else { throw Self.refusal("it has no time") }
      self.init(publicKey: publicKey, note: note, origin: .role(row.role), time: time)
    }
  }
#endif
