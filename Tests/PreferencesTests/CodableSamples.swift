import FoundationEssentials
import Preferences

enum Mode: String, Codable { case fast, safe }

indirect enum Tree: Codable, Hashable, Sendable {
  case leaf(Int)
  case node(left: Tree, right: Tree)
}

struct Nothing: Codable, Hashable {}

struct Picky: Codable, Hashable {
  struct Refused: Error, CustomStringConvertible { var description: String { sentinel } }
  var isRefused = false
  init(isRefused: Bool = false) { self.isRefused = isRefused }
  init(from decoder: any Decoder) throws { throw Refused() }
  func encode(to encoder: any Encoder) throws { throw Refused() }
}

struct Silent: Codable {
  init() {}
  init(from decoder: any Decoder) {}
  func encode(to encoder: any Encoder) {}
}

struct TwoFaced: Codable {
  init() {}
  init(from decoder: any Decoder) {}
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(1)
    _ = encoder.unkeyedContainer()
  }
}

/// Tries one form after another, as a type that has changed does.
struct Port: Codable, Hashable {
  var number: Int
  init(_ number: Int) { self.number = number }
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do { number = try container.decode(Int.self) } catch DecodingError.typeMismatch {
      number = Int(try container.decode(String.self)) ?? 0
    }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }
}

class Animal: Codable {
  var name = "cat"
}

final class Dog: Animal {
  var tricks = 3
  private enum CodingKeys: CodingKey { case tricks }
  override init() { super.init() }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    tricks = try container.decode(Int.self, forKey: .tricks)
    try super.init(from: container.superDecoder())
  }
  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(tricks, forKey: .tricks)
    try super.encode(to: container.superEncoder())
  }
}

/// Uses every container that can be nested.
struct Nested: Codable, Equatable {
  var rows: [[Int]]
  private enum Key: CodingKey { case table, names, missing }
  init(_ rows: [[Int]]) { self.rows = rows }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    var table = try container.nestedUnkeyedContainer(forKey: .table)
    rows = []
    while !table.isAtEnd {
      var row = try table.nestedUnkeyedContainer()
      var numbers: [Int] = []
      while try !row.isAtEnd && !row.decodeNil() { numbers.append(try row.decode(Int.self)) }
      rows.append(numbers)
    }
    let names = try container.nestedContainer(keyedBy: Key.self, forKey: .names)
    guard try names.decode(Int.self, forKey: .table) == rows.count, try container.decodeNil(forKey: .missing),
      try container.decode(Int?.self, forKey: .missing) == nil
    else { throw DecodingError.dataCorruptedError(forKey: .names, in: container, debugDescription: "") }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    var table = container.nestedUnkeyedContainer(forKey: .table)
    for row in rows {
      var numbers = table.nestedUnkeyedContainer()
      for number in row { try numbers.encode(number) }
    }
    var names = container.nestedContainer(keyedBy: Key.self, forKey: .names)
    try names.encode(table.count, forKey: .table)
    try container.encodeNil(forKey: .missing)
  }
}

/// Uses every container of an array, and says where it is.
struct Path: Codable, Equatable {
  var steps: [String] = []
  private enum Key: CodingKey { case list, base, at }
  init() {}
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    var list = try container.superDecoder(forKey: .list).unkeyedContainer()
    steps.append(try list.nestedContainer(keyedBy: Key.self).decode(String.self, forKey: .at))
    steps.append(try list.superDecoder().singleValueContainer().decode(String.self))
    guard list.count == 2, list.isAtEnd, try container.decode(Int.self, forKey: .base) == 2 else {
      throw DecodingError.dataCorruptedError(forKey: .list, in: container, debugDescription: "")
    }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    var list = container.superEncoder(forKey: .list).unkeyedContainer()
    var first = list.nestedContainer(keyedBy: Key.self)
    try first.encode(Self.text(first.codingPath), forKey: .at)
    let second = list.superEncoder()
    var single = second.singleValueContainer()
    try single.encode(Self.text(single.codingPath))
    try container.encode(container.codingPath.count + list.codingPath.count + list.count - 1, forKey: .base)
  }
  private static func text(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: "/") }
}

extension CodingUserInfoKey {
  static let unit = CodingUserInfoKey(rawValue: "unit")
}

/// Reads the unit from its coder.
struct Length: Codable, Hashable {
  var metres: Double
  init(metres: Double) { self.metres = metres }
  static func unit(_ userInfo: [CodingUserInfoKey: Any]) -> Double {
    CodingUserInfoKey.unit.flatMap { userInfo[$0] as? Double } ?? 1
  }
  init(from decoder: any Decoder) throws {
    metres = try decoder.singleValueContainer().decode(Double.self) * Self.unit(decoder.userInfo)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(metres / Self.unit(encoder.userInfo))
  }
}
