#if PostgreSQL
  /// The tables that keep vaults, which the owner of a database creates once.
  ///
  /// ```sh
  /// psql postgresql:///secrets -f schema.sql        # PostgresSchema.script
  /// psql postgresql:///secrets -f roles.sql         # PostgresSchema.grant(.writer, to: "shop")
  /// ```
  ///
  /// Nothing in it needs a superuser: the role that runs it needs the right to create a schema in the database.
  public enum PostgresSchema {
    /// The version of the tables. A database with a different version is refused.
    public static let version = 2

    /// What a role may do with the vaults of a database.
    public enum Access: Sendable {
      /// Opens vaults, reads, and adds to the logs. Readers and writers cannot change or remove what is in a log.
      case reader
      /// Also writes, creates and removes.
      case writer
      /// Owns the schema and its tables, and may change and drop them, and grant others the use of them.
      case owner
    }

    /// Creates the schema `secretprefs` with its tables, in one transaction.
    ///
    /// A vault has one row in `vault`: which snapshot it has (`version`), its length, and the last 32 bytes, which show
    /// that nothing before them has changed. Its bytes are in `piece`, in order, each of which begins at `start`. What
    /// machines have logged is in `log`, where programs only add rows.
    public static let script = """
      begin;
      create schema secretprefs;
      create table secretprefs.schema_version (version integer not null);
      insert into secretprefs.schema_version values (\(version));
      create table secretprefs.vault (
        name text primary key,
        version bigint not null,
        length bigint not null,
        tail bytea not null
      );
      create table secretprefs.piece (
        vault text not null,
        version bigint not null,
        start bigint not null,
        bytes bytea not null,
        primary key (vault, version, start)
      );
      -- Sealed bytes cannot be compressed, and a part of them can be read without the rest.
      alter table secretprefs.piece alter bytes set storage external;
      \(logTable)commit;

      """

    /// Brings the tables of version 1 up to date, in one transaction. Programs that know version 1 only are refused
    /// afterwards. Roles need ``grant(_:to:)`` again.
    public static let migration = """
      begin;
      update secretprefs.schema_version set version = \(version) where version = 1;
      \(logTable)commit;

      """

    private static let logTable = """
      create table secretprefs.log (
        vault text not null,
        log text not null,
        version bigint not null,
        start bigint not null,
        bytes bytea not null,
        header bytea not null,
        delivered timestamptz not null default now(),
        primary key (vault, log, version, start)
      );
      alter table secretprefs.log alter bytes set storage external;

      """

    /// Grants a role what it needs, and nothing else. A role of the server with row-level policies may see a part of
    /// the vaults only: a policy compares `vault.name`, `piece.vault` and `log.vault`.
    ///
    /// - Parameter role: the name of a role. `public` is all roles, whatever the quotes around it.
    public static func grant(_ access: Access, to role: String) -> String {
      let name = quoted(role)
      if access == .owner {
        // The schema first: the new owner of a table must have the right to create tables in its schema.
        return """
          alter schema secretprefs owner to \(name);
          alter table secretprefs.schema_version owner to \(name);
          alter table secretprefs.vault owner to \(name);
          alter table secretprefs.piece owner to \(name);
          alter table secretprefs.log owner to \(name);

          """
      }
      let rights = access == .reader ? "select" : "select, insert, update, delete"
      return """
        grant usage on schema secretprefs to \(name);
        grant select on secretprefs.schema_version to \(name);
        grant \(rights) on secretprefs.vault, secretprefs.piece to \(name);
        grant select, insert on secretprefs.log to \(name);

        """
    }

    /// An identifier of SQL.
    static func quoted(_ name: String) -> String {
      "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
  }
#endif
