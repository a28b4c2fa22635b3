#if PostgreSQL
  import CLibpq
  import VaultCore

  /// A connection to PostgreSQL for the workloads that are done by hand: statements in libpq's pipeline.
  final class DatabaseConnection {
    enum Value {
      case text(String)
      case bytes([UInt8])
    }

    private let connection: OpaquePointer

    init(_ url: String) throws {
      connection = PQconnectdb(url)
      guard PQstatus(connection) == CONNECTION_OK, PQenterPipelineMode(connection) == 1 else { throw Self.failure }
    }

    deinit { PQfinish(connection) }

    /// Runs statements in one round trip. Returns the first number of each result that has rows.
    @discardableResult
    func run(_ statements: [(text: String, values: [Value])]) throws -> [Int64] {
      var numbers: [Int64] = []
      for (text, values) in statements { try send(text, values) }
      guard PQpipelineSync(connection) == 1 else { throw Self.failure }
      while true {
        guard let result = PQgetResult(connection) else {
          guard PQstatus(connection) == CONNECTION_OK else { throw Self.failure }
          continue
        }
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC: return numbers
        case PGRES_TUPLES_OK where PQntuples(result) > 0 && PQgetlength(result, 0, 0) == 8:
          let number = UnsafeRawPointer(PQgetvalue(result, 0, 0)!).loadUnaligned(as: Int64.self)
          numbers.append(Int64(bigEndian: number))
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK: continue
        default: throw Self.failure
        }
      }
    }

    private func send(_ text: String, _ values: [Value]) throws {
      var bytes: [[UInt8]] = []
      var formats: [Int32] = []
      for value in values {
        switch value {
        case .text(let text):
          bytes.append(Array(text.utf8) + [0])
          formats.append(0)
        case .bytes(let value):
          bytes.append(value)
          formats.append(1)
        }
      }
      let copies = bytes.map { bytes in
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        copy.update(from: bytes.map { CChar(bitPattern: $0) }, count: bytes.count)
        return copy
      }
      defer { for copy in copies { copy.deallocate() } }
      let isSent =
        PQsendQueryParams(
          connection, text, Int32(values.count), nil, copies.map { UnsafePointer($0) }, bytes.map { Int32($0.count) },
          formats, 1) == 1
      guard isSent else { throw Self.failure }
    }

    private static let failure = VaultError(.io, "a statement of the benchmark failed")
  }
#endif
