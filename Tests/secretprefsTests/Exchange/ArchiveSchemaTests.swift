import Foundation
import Testing

/// `Docs/Archive.schema.json` describes what `export --format archive` writes.
struct ArchiveSchemaTests {
  private static func schema() throws -> [String: Any] {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Docs/Archive.schema.json")
    return try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
  }

  /// Checks values against the part of JSON Schema that the schema uses, and notes the members that occur.
  private final class Checker {
    private let root: [String: Any]
    private(set) var seen: Set<String> = []
    private(set) var problems: [String] = []

    init(_ root: [String: Any]) { self.root = root }

    func check(_ value: Any, _ schema: [String: Any], at place: String) {
      if let reference = schema["$ref"] as? String {
        let name = String(reference.dropFirst("#/$defs/".count))
        guard let found = (root["$defs"] as? [String: Any])?[name] as? [String: Any] else {
          return problems.append("no \(reference)")
        }
        return check(value, found, at: name)
      }
      let known: Set = [
        "$schema", "$defs", "title", "description", "type", "const", "enum", "pattern", "minimum", "maximum",
        "minLength", "properties", "required", "additionalProperties", "items", "oneOf",
      ]
      for word in schema.keys where !known.contains(word) { problems.append("\(place): unknown word \(word)") }
      if let type = schema["type"] as? String, !has(type, value) { return problems.append("\(place): not \(type)") }
      if let constant = schema["const"], !isEqual(constant, value) { problems.append("\(place): not the constant") }
      if let allowed = schema["enum"] as? [Any], !allowed.contains(where: { isEqual($0, value) }) {
        problems.append("\(place): not in the enumeration")
      }
      if let pattern = schema["pattern"] as? String, let text = value as? String,
        text.range(of: pattern, options: .regularExpression) == nil
      {
        problems.append("\(place): \(text.prefix(40)) does not match \(pattern)")
      }
      if let number = value as? NSNumber {
        if let least = schema["minimum"] as? NSNumber, number.compare(least) == .orderedAscending {
          problems.append("\(place): too small")
        }
        if let most = schema["maximum"] as? NSNumber, number.compare(most) == .orderedDescending {
          problems.append("\(place): too large")
        }
      }
      if let items = schema["items"] as? [String: Any], let array = value as? [Any] {
        for item in array { check(item, items, at: place + "[]") }
      }
      guard let object = value as? [String: Any], let properties = schema["properties"] as? [String: [String: Any]]
      else { return }
      for name in schema["required"] as? [String] ?? [] where object[name] == nil {
        problems.append("\(place): no \(name)")
      }
      if let choices = schema["oneOf"] as? [[String: [String]]] {
        let fitting = choices.count { $0["required", default: []].allSatisfy { object[$0] != nil } }
        if fitting != 1 { problems.append("\(place): \(fitting) of the choices") }
      }
      for (name, member) in object {
        seen.insert("\(place).\(name)")
        guard let next = properties[name] else {
          problems.append("\(place): \(name) is not in the schema")
          continue
        }
        check(member, next, at: "\(place).\(name)")
      }
    }

    /// The members of all objects of the schema.
    func members(_ schema: [String: Any], at place: String) -> Set<String> {
      var found: Set<String> = []
      for (name, next) in schema["properties"] as? [String: [String: Any]] ?? [:] {
        found.insert("\(place).\(name)")
        found.formUnion(members(next, at: "\(place).\(name)"))
      }
      if let items = schema["items"] as? [String: Any] { found.formUnion(members(items, at: place + "[]")) }
      for (name, next) in schema["$defs"] as? [String: [String: Any]] ?? [:] {
        found.formUnion(members(next, at: name))
      }
      return found
    }

    private func has(_ type: String, _ value: Any) -> Bool {
      switch type {
      case "object": value is [String: Any]
      case "array": value is [Any]
      case "string": value is String
      case "integer": (value as? NSNumber).map { $0.doubleValue == $0.doubleValue.rounded() } ?? false
      default: false
      }
    }

    private func isEqual(_ first: Any, _ second: Any) -> Bool {
      (first as? NSObject)?.isEqual(second) ?? ((first as? String) == (second as? String))
    }
  }

  @Test func `an archive has the members of the schema, each of them, and no others`() throws {
    let scene = try ArchiveScene()
    let outcome = try scene.shell(
      """
      a new-key device > /dev/null
      for v in old new; do
        printf $v | a set bound --service s --accessibility whenUnlockedThisDeviceOnly --device-key-file device
      done
      a slots add --for-group ops --new-key-file ops.key > /dev/null
      a export --format archive --to ops.json --key-file ops.key 2> warnings
      a export --format archive --to all.json 2> warnings || test $? = 77
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let schema = try Self.schema()
    let checker = Checker(schema)
    for name in ["ops.json", "all.json"] {
      let data = try Data(contentsOf: URL(filePath: scene.home.file(name)))
      checker.check(try JSONSerialization.jsonObject(with: data), schema, at: "")
    }
    #expect(checker.problems.isEmpty, "\(checker.problems.prefix(10))")
    // No version writes items that it does not know itself; the reader of vaults has vectors with some.
    let absent = checker.members(schema, at: "").subtracting(checker.seen).filter { !$0.contains("xtensions") }
    #expect(absent.isEmpty, "\(absent.sorted())")
  }

  @Test func `the check of the schema finds a member that is missing and one that is too much`() throws {
    let schema = try Self.schema()
    let checker = Checker(schema)
    let text =
      #"{"format":"secretprefs-archive","version":1,"exported":"1 ms","groups":[{"group":"g","records":[]}],"x":1}"#
    checker.check(try JSONSerialization.jsonObject(with: Data(text.utf8)), schema, at: "")
    #expect(
      checker.problems.sorted() == [".groups[]: no removed", ": no unopened", ": x is not in the schema"])
  }
}
