#if PostgreSQL
  /// What ``PostgresDatabase/status()`` finds.
  package struct PostgresStatus: Sendable {
    /// A row of a vault, which is not opened.
    package struct Vault: Sendable, Hashable {
      package let name: String
      package let bytes: Int
      /// Rises when the vault is replaced as a whole.
      package let version: Int
    }

    package var serverVersion = ""
    package var isReplica = false
    /// Whether a commit is on the disk.
    package var isDurable = false
    /// Whether a pooler is between, so that notifications do not arrive.
    package var isPooled = false
    /// Whether the connection has TLS, with a server that was verified. Otherwise it is a Unix socket.
    package var hasTLS = false
    /// The role of the connection.
    package var role = ""
    package var hasSchema = false
    /// `nil` if there is none, or the role may not read it.
    package var schemaVersion: Int?
    /// Whether the role may look into the schema.
    package var mayUse = false
    package var mayRead = false
    package var mayWrite = false
    /// Whether the role may deliver logs and read them.
    package var mayLog = false
    /// Whether the role may leave requests for access.
    package var mayRequest = false
    /// Whether the role may change the tables and grant others the use of them.
    package var isOwner = false
    /// The vaults that the role may see; `nil` if they were not read.
    package var vaults: [Vault]?
  }
#endif
