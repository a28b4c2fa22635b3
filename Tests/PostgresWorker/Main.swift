// One of several processes that use a vault in a database at the same time, for Scripts/postgres and the tests:
//
//   PostgresWorker schema                  prints the script of the schema
//   PostgresWorker create URL              makes the vault "shared"
//   PostgresWorker write URL NAME COUNT MILLISECONDS
//                                          sets COUNT values of its own, one in each time, and prints their keys
//   PostgresWorker read URL COUNT          reads COUNT times, and checks that no revision goes back
//   PostgresWorker check URL               verifies the vault, and prints the keys and values that it has
//   PostgresWorker compact URL             replaces the vault by a new version of the same contents
//   PostgresWorker follow URL [MARK]       makes the mark; prints the number of keys, and errors, when they change
//   PostgresWorker poll URL COUNT SECONDS  opens the vault as COUNT servers do, and prints the greatest age of a state
//   PostgresWorker hold URL                takes the lock, says so, and does nothing until it is ended
#if PostgreSQL
  import Glibc
  import Secrets
  import VaultPostgres

  @main enum Main {
    static func main() async throws {
      let arguments = CommandLine.arguments
      if arguments[1] == "schema" { return say(PostgresSchema.script) }
      if arguments[1] == "poll" {
        return try Worker.poll(arguments[2], servers: Int(arguments[3]) ?? 0, seconds: Int(arguments[4]) ?? 0)
      }
      // Long enough for the other process of the test to find it locked.
      let worker = try Worker(arguments[2], holdLimit: .seconds(arguments[1] == "hold" ? 15 : 3))
      do {
        switch arguments[1] {
        case "create": try await worker.create()
        case "write":
          try await worker.write(
            arguments[3], count: Int(arguments[4]) ?? 0, pause: .milliseconds(Int(arguments[5]) ?? 0))
        case "read": try await worker.read(count: Int(arguments[3]) ?? 0)
        case "follow": try await worker.follow(mark: arguments.count > 3 ? arguments[3] : nil)
        case "check": try await worker.check()
        case "compact": try await worker.compact()
        default: try worker.hold()
        }
      } catch let error as VaultError {
        say("failed: \(error.code.rawValue) \(error.errno ?? 0)")
        exit(1)
      }
    }
  }
#else
  @main enum Main { static func main() {} }
#endif
