#if PostgreSQL
  import Foundation
  import Secrets
  import Testing
  import VaultCore

  @testable import VaultPostgres

  /// A role that may create operators in a schema of the search path must not act with the rights of others.
  @Suite(.needsServer) struct SearchPathTests {
    /// An operator for each two types for which `pg_catalog` has none, in the schema `public`. Each raises an error.
    private static let operators = """
      do $do$
        declare
          name text; first regtype; second regtype; answer text;
          types regtype[] := '{smallint, integer, bigint, numeric, real, double precision, text, bytea, boolean, name,
            "char", oid, timestamptz, interval}';
        begin
          foreach name in array '{+, -, *, /, %, =, <>, <, >, <=, >=, ||}'::text[] loop
            answer := case when name in ('=', '<>', '<', '>', '<=', '>=') then 'boolean' else 'bigint' end;
            foreach first in array types loop
              foreach second in array types loop
                continue when exists (
                  select from pg_operator where oprname = name and oprleft = first and oprright = second);
                execute format(
                  'create or replace function public.to_%s(%s, %s) returns %1$s language plpgsql as '
                  '$f$ begin raise exception ''an operator of another role was used''; end $f$', answer, first, second);
                execute format(
                  'create operator public.%s (leftarg = %s, rightarg = %s, function = public.to_%s)', name, first,
                  second, answer);
              end loop;
            end loop;
          end loop;
        end
      $do$
      """

    @Test func `operators of other roles are not used`() throws {
      let database = try TestServer.database()
      let administrator = try Administrator(database)
      try administrator.run(Self.operators)
      // As a statement would that names no schema.
      #expect(refusal { try administrator.run("select 1.5 * 2") } == .io)

      let opened = try PostgresDatabase(TestServer.url(database))
      let role = try TestServer.role(database)
      #expect(try opened.createSchema() == .none)
      try opened.grant(.writer, to: role)
      #expect(try opened.status().mayWrite)
      try Fleet.with(database) { fleet in
        let web = try fleet.program(of: "web", freshness: .milliseconds(100))
        try fleet.read(2, web)
        for number in 0..<3 { try fleet.owner.secrets.set("\(number)", forKey: "b\(number)") }
        try fleet.owner.vault.compact()
        try fleet.owner.secrets.removeValue(forKey: "b0")
        try web.vault.refresh()
        #expect(try web.secrets.string(forKey: "b2") == "2")
        for program in [fleet.owner, web] { try program.vault.deliverAuditLogs() }
        #expect(try fleet.collected().count == 2)
        let requests = fleet.owner.storage.requests
        let key = try VaultIdentity().publicKey
        _ = try requests.add(key, note: "web")
        #expect(try requests.rows(atMost: 10).count == 1)
        _ = try requests.remove(key)
        #expect(try opened.removeLogs(olderThanDays: 1) == 0)
      }
    }
  }
#endif
