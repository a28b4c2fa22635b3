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

    /// A text that returns the timeline of the server, and the same for a server that does not say it.
    struct Texts: Sendable {
      let withTimeline: String
      let withoutTimeline: String

      /// - Parameter text: receives the expression of the timeline.
      init(_ text: (_ timeline: String) -> String) {
        withTimeline = text(ServerHistory.timeline)
        withoutTimeline = text("null::text")
      }
    }

    let text: String
    /// For a server that does not say its timeline.
    let textWithoutTimeline: String
    let values: [Value]

    init(_ text: String, _ values: Value...) {
      self.text = text
      textWithoutTimeline = text
      self.values = values
    }

    init(_ texts: Texts, _ values: Value...) {
      text = texts.withTimeline
      textWithoutTimeline = texts.withoutTimeline
      self.values = values
    }

    /// The expression of a time in milliseconds since 1970.
    ///
    /// The operator names its schema. `pg_catalog` has none for exactly these two types, so one that another role has
    /// made in a schema of the search path would come first, and would do what it likes with the rights of this role.
    static func milliseconds(_ time: String) -> String {
      "(extract(epoch from \(time)) operator(pg_catalog.*) 1000)::bigint"
    }
  }
#endif
