#if PostgreSQL
  internal import CPostgres
  internal import VaultCore

  /// The result of one statement, in binary form.
  @safe final class Rows {
    private let result: OpaquePointer

    /// - Parameter result: is cleared with this object.
    init(_ result: OpaquePointer) { unsafe self.result = unsafe result }

    deinit { unsafe lazyPQclear(result) }

    /// The number of rows that the statement returned.
    var count: Int { unsafe Int(lazyPQntuples(result)) }

    /// The number of rows that the statement changed.
    var changedCount: Int { unsafe Int(String(cString: lazyPQcmdTuples(result))) ?? 0 }

    func isNull(_ row: Int, _ column: Int32) -> Bool {
      guard unsafe lazyPQnfields(result) > column, row < count else { return true }
      return unsafe lazyPQgetisnull(result, Int32(row), column) != 0
    }

    /// An integer or a truth value.
    func number(_ row: Int, _ column: Int32) throws(VaultError) -> Int {
      let bytes = try bytes(row, column)
      guard let first = bytes.first, bytes.count <= 8 else { throw Self.unexpected }
      return bytes.reduce(first & 0x80 == 0 ? 0 : -1) { $0 << 8 | Int($1) }
    }

    func bytes(_ row: Int, _ column: Int32) throws(VaultError) -> [UInt8] {
      guard !isNull(row, column), let start = unsafe lazyPQgetvalue(result, Int32(row), column) else {
        throw Self.unexpected
      }
      let count = unsafe Int(lazyPQgetlength(result, Int32(row), column))
      return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    func text(_ row: Int, _ column: Int32) throws(VaultError) -> String {
      String(decoding: try bytes(row, column), as: UTF8.self)
    }

    /// The error of columns that are not as the schema says.
    static var unexpected: VaultError {
      VaultError(.damaged, "the database has returned other columns than the schema secretprefs has")
    }
  }
#endif
