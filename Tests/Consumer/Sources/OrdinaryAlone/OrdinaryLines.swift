import Foundation

#if EVERY_MODULE
  import Preferences
  import PreferencesOperators
  import PreferencesFoundation
  import Secrets
  import SecretsTesting
  import VaultCore
#endif

/// What `ordinaryLines` evaluates, each as its type and its value.
private struct Page {
  var lines: [String] = []

  mutating func show<T>(_ value: T, line: Int = #line) { lines.append("\(line): \(T.self) \(value)") }
}

private enum Level: String, CaseIterable { case low, high }
private enum Port: UInt16 { case http = 80, https = 443 }
private struct Options: OptionSet { let rawValue: UInt8 }
private struct Meter: Equatable { var value: Double; init(_ value: Double) { self.value = value } }
private struct Name: Equatable, ExpressibleByStringLiteral {
  var text: String
  init(_ text: String) { self.text = text }
  init(stringLiteral text: String) { self.text = text }
}
private enum Limits { static let most = 10 }
private typealias Batch = [Int]
private struct Tag: Hashable { var name = "tag" }
private struct Failure: Error {}

#if EVERY_MODULE
  // A type that can be stored works as before, too.
  extension Level: PreferenceConvertible, PreferenceDictionaryKey {}
  extension Port: PreferenceConvertible, PreferenceDictionaryKey {}
  extension Options: PreferenceConvertible {}
#endif

/// Lines as in any program. None of them names this package, and importing it must change none.
public func ordinaryLines() -> [String] {
  var page = Page()
  initialisers(&page)
  conversions(&page)
  optionals(&page)
  texts(&page)
  collections(&page)
  logic(&page)
  literals(&page)
  values(&page)
  return page.lines
}

private func initialisers(_ page: inout Page) {
  let words = ["1", "two", "3"]
  page.show(["1"].compactMap(Int.init))
  page.show(words.compactMap(Int.init))
  page.show(words.map(Int.init))
  page.show(words.compactMap(Int8.init))
  page.show(words.compactMap(UInt.init))
  page.show(words.compactMap(UInt64.init))
  page.show(["1", "2"].compactMap(UInt8.init))
  page.show(words.compactMap(Double.init))
  page.show(words.map(Double.init))
  page.show(words.compactMap(Float.init))
  page.show(["true", "no"].compactMap(Bool.init))
  page.show(["6F9619FF-8B86-D011-B42D-00C04FC964FF", ""].compactMap(UUID.init))
  page.show(words.compactMap(UUID.init(uuidString:)))
  page.show([1, 2].map(String.init))
  page.show([1.5].map { String($0) })
  page.show([true].map(String.init))
  page.show("abc".map(String.init))
  page.show("a-b".split(separator: "-").map(String.init))
  page.show("abc".utf8.map(UnicodeScalar.init))
  page.show("abc".unicodeScalars.map(Character.init))
  page.show(["a", "b"].map(Character.init))
  page.show([1, 2].map(Double.init))
  page.show([1, 2].map(Float.init))
  page.show([1, 2].map(Int8.init))
  page.show([1, 2].map(UInt8.init))
  page.show([1, 2].map(Int64.init))
  page.show([1, 2].map(UInt32.init))
  page.show([1.5, 2].map(Int.init))
  page.show([1, 2].compactMap(Int8.init(exactly:)))
  page.show([300].map(UInt8.init(truncatingIfNeeded:)))
  page.show([1, 2].map { CGFloat($0) })
  page.show([1.5].map { CGFloat($0) })
  page.show([1.5].map(Meter.init).map(\.value))
  page.show(["a"].map(Name.init(_:)).map(\.text))
  page.show(["low", "none"].compactMap(Level.init).map(\.rawValue))
  page.show(["low", "none"].compactMap(Level.init(rawValue:)).map(\.rawValue))
  page.show([80, 81].compactMap(Port.init).map(\.rawValue))
  page.show([80, 81].compactMap(Port.init(rawValue:)).map(\.rawValue))
  page.show([1, 2].map(Options.init).map(\.rawValue))
  page.show([1, 2].map(Options.init(rawValue:)).map(\.rawValue))
  page.show(["https://a.example/b"].compactMap(URL.init(string:)))
  page.show(["https://a.example/b"].compactMap(URL.init))
  page.show(["/tmp"].map(URL.init(fileURLWithPath:)))
  page.show([0.0, 1].map(Date.init(timeIntervalSince1970:)))
  page.show([[1, 2], [3]].map { Data($0) })
  page.show(["ab", "c"].map(\.utf8).map { Data($0) })
  page.show(["ab"].map(Array.init))
  page.show([[1, 1]].map(Set.init))
  page.show([[1, 2]].map(ArraySlice.init))
  page.show([1...2].map(Array.init))
  page.show([1..<2].map(ClosedRange.init))
  page.show([1...2].map(Range.init))
  page.show(Optional("8").flatMap(Int.init))
  page.show(Optional("8").map(Int.init))
  page.show(Optional(8).map(String.init))
  page.show(Optional("https://a.example").flatMap(URL.init(string:)))
  page.show("1,2".split(separator: ",").compactMap { Int($0) })
  page.show("1,2".split(separator: ",").map(String.init).compactMap(Int.init))
  page.show("1 2".components(separatedBy: " ").compactMap(Int.init).reduce(0, +))
  let parse: (String) -> Int? = Int.init
  page.show(parse("7"))
  let text: (Int) -> String = String.init
  page.show(text(7))
  let number: (Int) -> Double = Double.init
  page.show(number(7))
  let identifier: (String) -> UUID? = UUID.init
  page.show(identifier("x"))
  let flag: (String) -> Bool? = Bool.init
  page.show(flag("true"))
  let decoders: [String: (String) -> Any?] = ["int": { Int($0) }, "double": { Double($0) }, "bool": { Bool($0) }]
  page.show(decoders.keys.sorted())
  page.show(zip(["1", "2"], [1.0, 2]).map { (Int($0), Float($1)) }.count)
}

private func conversions(_ page: inout Page) {
  page.show(Int("12")! + 1)
  page.show(Int("x") ?? 0)
  page.show(Int(1.5))
  page.show(Int("ff", radix: 16) as Any)
  page.show(Double(3) / 2)
  page.show(Double("1.5") ?? .nan)
  page.show(Float(1) / 3)
  page.show(CGFloat(1) / 2)
  page.show(CGRect(x: 0, y: 0, width: 1, height: 2).size)
  page.show(CGPoint(x: 1, y: 2))
  page.show(String(12, radix: 2))
  page.show(String(describing: 1))
  page.show(String(repeating: "ab", count: 2))
  page.show(String(["a", "b"].joined()))
  page.show(String(decoding: [104, 105], as: UTF8.self))
  page.show(String(data: Data([104]), encoding: .utf8) ?? "")
  page.show(Character("a"))
  page.show(Data("hi".utf8).count)
  page.show(Data([1, 2, 3]).map { $0 + 1 })
  page.show(Data())
  page.show(Data(count: 2) + Data([1]))
  page.show(Data(base64Encoded: "aGk=")?.count ?? 0)
  page.show(Date(timeIntervalSince1970: 0) + 60 < Date())
  page.show(Date() > Date.distantPast && Date.now < .distantFuture)
  page.show(Date(timeIntervalSince1970: 60).timeIntervalSince(Date(timeIntervalSince1970: 0)))
  page.show(URL(string: "https://a.example/b")?.host() ?? "none")
  page.show(URL(fileURLWithPath: "/tmp").appendingPathComponent("x").path)
  page.show(UUID() == UUID())
  page.show(UInt8(ascii: "a"))
  page.show(Int.max &+ 1 == .min)
  page.show((1 << 4) | 3 & 0xf ^ 1)
  page.show(~0 == -1)
  page.show(Set([1, 2]).union([3]).sorted())
  page.show(Array(repeating: 0, count: 2))
  page.show(Array(0..<3).reversed() as [Int])
  page.show(Bool("true") == true)
  page.show(Bool.random() || true)
}

private func optionals(_ page: inout Page) {
  let five: Int? = 5
  let none: Int? = nil
  let word: String? = "a"
  page.show(five == nil)
  page.show(none == nil)
  page.show(five == 5)
  page.show(five != none)
  page.show(nil == none)
  page.show((five ?? 0) + (none ?? 1))
  page.show(five.map { $0 + 1 } ?? 0)
  page.show(five.map { $0 * 2.5.rounded(.down).exponent } as Any)
  page.show(word == "a" ? 1 : 0)
  page.show(word ?? "b" + "c")
  page.show(word.map { $0 + "b" } == "ab")
  page.show([five, none].compactMap { $0 })
  page.show([five, none].contains(nil))
  page.show([five, none] == [5, nil])
  page.show(["a": 1]["a"] == 1)
  page.show(["a": 1]["b"] == nil)
  page.show((["a": 1]["b"] ?? 0) + 1)
  page.show(["a": [1]]["a"]?.first ?? 0)
  page.show([1, 2].first! < 2)
  page.show([Int]().max() == nil)
  page.show((try? JSONDecoder().decode([Int].self, from: Data("[1]".utf8))) == [1])
  page.show((try? JSONSerialization.jsonObject(with: Data("{}".utf8))) != nil)
  if let five, five > 4, none == nil { page.show(five - 1) }
  guard case let value? = five else { return }
  page.show(value % 2)
}

private func texts(_ page: inout Page) {
  var text = "a"
  text += "b"
  text += String(1)
  text.append("c")
  page.show(text)
  page.show("a" + "b" == "ab")
  page.show("a" < "b")
  page.show("\(1) \(text) \(1.5)")
  page.show("n: " + String(1 + 2) + ", " + "\(3)")
  page.show(["a", "b"].joined(separator: ", ") + ".")
  page.show("a,b".split(separator: ",").map { $0 + "!" })
  page.show(["b", "a"].sorted(by: <))
  page.show(["b", "a"].sorted { $0 > $1 })
  page.show(["aa", "b"].map(\.count).reduce(0, +))
  page.show(["a", "b"].reduce("", +))
  page.show("abc".contains("b") && "abc".hasPrefix("a"))
  page.show("abc".filter { $0 != "b" })
  page.show("abc".first == "a")
  page.show("a b".replacingOccurrences(of: " ", with: "-"))
  page.show(String(format: "%d-%@", 1, "a"))
  page.show("abc"[..<"abc".index("abc".startIndex, offsetBy: 2)] == "ab")
  page.show(text.isEmpty ? "none" : text)
  switch text {
  case "x", "y": page.show("x or y")
  case let other where other.count > 2: page.show(other)
  default: page.show("")
  }
}

private func collections(_ page: inout Page) {
  var numbers = [3, 1, 2]
  numbers += [4]
  numbers += 5...6
  numbers.append(contentsOf: [7])
  page.show(numbers)
  page.show(numbers.sorted(by: <))
  page.show(numbers.sorted(by: >).first ?? 0)
  page.show(numbers.reduce(0, +))
  page.show(numbers.reduce(1, *))
  page.show(numbers.map { $0 * 2 }.filter { $0 > 4 }.count)
  page.show(numbers.map(-))
  page.show([1, 2] + [3] == [1, 2, 3])
  page.show([1.0, 2].map { $0 / 2 }.reduce(0, +))
  page.show(zip([1, 2], [3, 4]).map(+))
  page.show(zip([1, 2], [3, 4]).map { $0 * $1 }.reduce(0, +))
  page.show(zip([1, 2], ["a", "b"]).map { "\($0)\($1)" })
  page.show([1, 2].elementsEqual([1, 2]))
  page.show([[1], [2, 3]].flatMap { $0 })
  page.show(Array([[1], [2]].joined()))
  page.show([1, 2, 3].prefix(2) + [9])
  page.show([1, 2, 3].firstIndex(of: 2) == 1)
  page.show([1, 2, 3].contains { $0 == 2 })
  page.show([1, 2, 3].allSatisfy { 1...3 ~= $0 })
  page.show((1...3).map { $0 * $0 }.max() ?? 0)
  page.show(stride(from: 0, to: 1, by: 0.5).map { $0 + 1 })
  var table = ["a": 1]
  table["b"] = 2
  table["a", default: 0] += 1
  table.merge(["c": 3]) { _, new in new }
  table.merge(["c": 4], uniquingKeysWith: +)
  page.show(table.sorted { $0.key < $1.key }.map { "\($0)=\($1)" })
  page.show(table.mapValues(Double.init)["a"] ?? 0)
  page.show(table.mapValues(String.init)["a"] ?? "")
  page.show(table.compactMapValues { $0 > 2 ? $0 : nil } == ["b": 2].filter { $0.value > 2 }.merging(["c": 7]) { $1 })
  page.show(Dictionary(grouping: [1, 2, 3]) { $0 % 2 }[1] ?? [])
  page.show(Dictionary(uniqueKeysWithValues: zip(["a", "b"], 1...)).values.sorted())
  page.show(["a", "b", "a"].reduce(into: [:]) { $0[$1, default: 0] += 1 }["a"] == 2)
  page.show([Tag(): 1].keys.map(\.name))
  var set: Set = [1, 2]
  set.formUnion([3])
  page.show(set.insert(4).inserted && set.subtracting([1]).count == 3)
  var data = Data([1])
  data += [2]
  data.append(3)
  page.show(data == Data([1, 2, 3]))
  var batch: Batch = [1]
  batch += [2]
  page.show(batch)
}

private func logic(_ page: inout Page) {
  var flag = true
  flag = flag && !false || 1 > 2
  page.show(flag)
  var bits = 0b1100
  bits &= 0b0111
  bits |= 1
  bits ^= 2
  bits <<= 1
  page.show(bits)
  var number = 10
  number += 1
  number -= 2
  number *= 3
  number /= 2
  number %= 5
  page.show(number)
  var share = 0.5
  share += 1
  share *= 2
  page.show(share)
  page.show(1...3 ~= 2)
  page.show((1..<3).contains(2) && !(..<1 ~= 2))
  page.show(min(1, 2) + max(3, 4) - abs(-1))
  page.show(1 == 1.0)
  page.show(share < 2.5 && number >= 1)
  page.show((1, "a") == (1, "a"))
  page.show((1, 2) < (1, 3))
  page.show(number > Limits.most ? "more" : "less")
  switch number {
  case ..<0: page.show("below")
  case 0: page.show("zero")
  case 1...9: page.show("digit")
  case Limits.most...: page.show("more")
  default: page.show("other")
  }
  switch (share, flag) {
  case (0..<1, _): page.show("small")
  case (1..., true): page.show("large")
  default: page.show("other")
  }
  do { throw Failure() } catch is Failure { page.show("failure") } catch { page.show("error") }
}

private func first<T>(_ values: T...) -> T { values[0] }
private func identity<T>(_ value: T) -> T { value }
private func keyed<T>(_ values: [String: T]) -> [T] { Array(values.values) }

private func literals(_ page: inout Page) {
  page.show(identity(1))
  page.show(identity(1.5))
  page.show(identity("a"))
  page.show(identity(true))
  page.show(identity([1, 2]))
  page.show(identity([1, 2.5]))
  page.show(identity(["a": 1]))
  page.show(identity("\(1)"))
  page.show(first(1, 2.5))
  page.show(first("a", "b"))
  page.show(keyed(["a": 1]))
  page.show([1, 2.5, 3])
  page.show([nil, 1])
  page.show(["a", nil].compactMap { $0 })
  page.show([1, "a", true] as [Any])
  page.show((["a": 1, "b": "c"] as [String: Any]).count)
  page.show(([.low, .high] as [Level]).map(\.rawValue))
  page.show(Level.allCases.map(\.rawValue))
  page.show(Options(rawValue: 1).union(Options(rawValue: 2)).rawValue)
  page.show(true ? 1 : 2.5)
  page.show([true ? 1 : 0, 2])
  page.show(Name("a") == "a")
  page.show(-1 as Int8)
  page.show([0: "a"][0] ?? "b")
  page.show(JSONValue.object(["a": [1, "b", true, nil]]).depth)
}

/// A value of another package that literals make too.
private enum JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByNilLiteral
{
  case string(String), integer(Int), bool(Bool), array([JSONValue]), object([String: JSONValue]), null

  init(stringLiteral value: String) { self = .string(value) }
  init(integerLiteral value: Int) { self = .integer(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  init(nilLiteral: ()) { self = .null }

  var depth: Int {
    switch self {
    case .array(let values): 1 + (values.map(\.depth).max() ?? 0)
    case .object(let values): 1 + (values.values.map(\.depth).max() ?? 0)
    default: 0
    }
  }
}

private func values(_ page: inout Page) {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys]
  page.show((try? encoder.encode(["b": 1, "a": 2])).map { String(decoding: $0, as: UTF8.self) } ?? "")
  page.show(["a": 1] == ["a": 1])
  page.show(ProcessInfo.processInfo.environment["no such variable"] ?? "none")
  page.show(ProcessInfo.processInfo.environment["no such variable"].flatMap(Int.init) ?? 8080)
  page.show(FileManager.default.fileExists(atPath: "/") ? 1 : 0)
  page.show(Calendar(identifier: .gregorian).isDate(.distantPast, inSameDayAs: .distantFuture))
  page.show(Measurement(value: 1, unit: UnitLength.meters).value + 1)
  page.show(Decimal(1) + 2 == 3)
  page.show(IndexPath(indexes: [1, 2]).count)
  page.show([NSNumber(value: 1)].map(\.intValue))
  page.show(Duration.seconds(1) + .milliseconds(5) < .seconds(2))
  page.show(Result { try Int("1", format: .number) }.map { $0 + 1 }.map(String.init))
  page.show([1, 2].lazy.map(String.init).joined())
}
