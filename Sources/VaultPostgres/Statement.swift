#if PostgreSQL
  internal import CPostgres

  /// A statement with its parameters, which are sent in binary form and never become a part of the text.
  struct Statement: Sendable {
    enum Value: Sendable {
      case text(String)
      case number(Int)
      case bytes([UInt8])

      /// The type's number in every PostgreSQL.
      var type: Oid {
        switch self {
        case .text: 25
        case .number: 20
        case .bytes: 17
        }
      }

      func append(to bytes: inout [UInt8]) {
        switch self {
        case .text(let text): bytes += text.utf8
        case .number(let number):
          for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        case .bytes(let value): bytes += value
        }
      }
    }

    let text: String
    let values: [Value]

    init(_ text: String, _ values: Value...) {
      self.text = text
      self.values = values
    }
  }
#endif
