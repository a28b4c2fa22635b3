#if PostgreSQL
  internal import VaultCore

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
    public static let version = 3

    /// What a role may do with the vaults of a database.
    public enum Access: Sendable {
      /// Leaves requests for access, and sees and removes its own. Sees no vault.
      case requester
      /// Also opens vaults, reads, and adds to the logs. Readers and writers cannot change or remove what is in a log.
      case reader
      /// Also writes, creates and removes, and sees and removes all requests.
      case writer
      /// Owns the schema and its tables, and may change and drop them, and grant others the use of them.
      case owner
    }

    /// Creates the schema `secretprefs` with its tables, in one transaction.
    ///
    /// A vault has one row in `vault`: which snapshot it has (`version`), its length, and the last 32 bytes, which show
    /// that nothing before them has changed. Its bytes are in `piece`, in order, each of which begins at `start`. What
    /// machines have logged is in `log`, where programs only add rows. `request` has the requests for access, at most
    /// 100 of a role.
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
      \(logTable)\(requestTable)commit;

      """

    /// Brings the tables of versions 1 and 2 up to date, in one transaction. Programs that know these only are refused
    /// afterwards. Roles need ``grant(_:to:)`` again.
    public static let migration = """
      begin;
      update secretprefs.schema_version set version = \(version) where version in (1, 2);
      \(logTable)\(requestTable)commit;

      """

    /// Version 1 does not have it.
    private static let logTable = """
      create table if not exists secretprefs.log (
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

    /// The most requests that a role can leave, in all vaults together.
    package static let mostRequests = 100

    private static let requestTable = """
      create table secretprefs.request (
        role name not null default current_user,
        place integer not null check (place between 1 and \(mostRequests)),
        vault text not null check (octet_length(vault) between 1 and 1024),
        public_key text not null check (public_key ~ '^spv-public-1:[0-9a-f]{64}$'),
        note text not null check (octet_length(note) <= \(VaultIdentity.longestNote)),
        asked timestamptz not null default now(),
        primary key (role, place),
        unique (role, vault, public_key)
      );
      -- A role sees and removes its own requests; one that may write vaults, those of others as well.
      alter table secretprefs.request enable row level security;
      create policy own on secretprefs.request using (role = current_user);
      create policy writers_see on secretprefs.request for select
        using (pg_catalog.has_table_privilege('secretprefs.vault', 'update'));
      create policy writers_remove on secretprefs.request for delete
        using (pg_catalog.has_table_privilege('secretprefs.vault', 'update'));

      """

    /// Grants a role what it needs, and nothing else. A role of the server with row-level policies may see a part of
    /// the vaults only: a policy compares `vault.name`, `piece.vault` and `log.vault`, and a restrictive one
    /// `request.vault`.
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
          alter table secretprefs.request owner to \(name);

          """
      }
      // Role and time of a request are those of the server.
      let asking = """
        grant usage on schema secretprefs to \(name);
        grant select on secretprefs.schema_version to \(name);
        grant select, delete, insert (place, vault, public_key, note) on secretprefs.request to \(name);

        """
      guard access != .requester else { return asking }
      let rights = access == .reader ? "select" : "select, insert, update, delete"
      return asking + """
        grant \(rights) on secretprefs.vault, secretprefs.piece to \(name);
        grant select, insert on secretprefs.log to \(name);

        """
    }

    /// The statement that removes old delivered logs of all vaults. Its result is one row with the number of files of
    /// logs that were removed. Only the owner of the tables may run it.
    ///
    /// Of each log, the oldest files are removed, up to the first to which something was delivered in the last days.
    /// Its newest file stays, so that what is left is a log that goes on. A verification of it names the events that
    /// are gone, unless the machine has removed them as well and has logged that (`AuditLimits.keptDays`).
    ///
    /// - Parameter days: 1 to 36,500, and the nearest of these for a number outside.
    public static func removeLogs(olderThanDays days: Int) -> String {
      """
      with kept as (
        select vault, log, coalesce(
          min(version) filter (where delivered >= now() - interval '\(min(max(days, 1), 36_500)) days'), max(version)
        ) as first
        from secretprefs.log group by vault, log
      ), removed as (
        delete from secretprefs.log l using kept k
        where l.vault = k.vault and l.log = k.log and l.version < k.first
        returning l.vault, l.log, l.version
      )
      select count(*) as files from (select distinct vault, log, version from removed) as files;

      """
    }

    /// An identifier of SQL.
    static func quoted(_ name: String) -> String {
      "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
  }
#endif
