import FoundationEssentials
import Preferences
import Testing

struct PreferenceConvertibleTests {
  func returns<Value: PreferenceConvertible & Equatable>(_ value: Value) throws {
    #expect(try Value(preferenceValue: value.preferenceValue) == value)
    #expect(value.preferenceValue.kind == Value.preferenceKind)
  }

  func edges<Integer: FixedWidthInteger & PreferenceConvertible>(_ type: Integer.Type) throws {
    try returns(Integer.min)
    try returns(Integer.max)
    let kind: PreferenceValue.Kind = Integer.isSigned ? .integer : .unsignedInteger
    #expect(Integer.preferenceKind == kind)
  }

  @Test func `the extremes of all ten integers come back`() throws {
    try edges(Int.self)
    try edges(Int8.self)
    try edges(Int16.self)
    try edges(Int32.self)
    try edges(Int64.self)
    try edges(UInt.self)
    try edges(UInt8.self)
    try edges(UInt16.self)
    try edges(UInt32.self)
    try edges(UInt64.self)
  }

  @Test func `other values come back`() throws {
    try returns("text")
    try returns(Data([0, 255]))
    try returns(true)
    try returns(Date(timeIntervalSinceReferenceDate: 1.25))
    try returns(try #require(URL(string: "https://example.com/a?b=c#d")))
    try returns(try #require(URL(string: "relative/path")))
    try returns(["a": [1, 2], "b": []])
    try returns([[UInt8.max], []])
  }

  @Test(arguments: [0, -0.0, .infinity, -.infinity, .pi, .leastNonzeroMagnitude, .greatestFiniteMagnitude])
  func `doubles and floats come back bit for bit`(value: Double) throws {
    #expect(try Double(preferenceValue: value.preferenceValue).bitPattern == value.bitPattern)
    let float = Float(value)
    #expect(try Float(preferenceValue: float.preferenceValue).bitPattern == float.bitPattern)
  }

  @Test func `an integer is read as the floating-point number that equals it, and a float rounds`() throws {
    #expect(try Double(preferenceValue: 1) == 1)
    #expect(try Double(preferenceValue: -0x20_0000_0000_0000) == -0x1p53)
    #expect(try Double(preferenceValue: .unsignedInteger(1 << 63)) == 0x1p63)
    #expect(try Float(preferenceValue: 1) == 1)
    #expect(try Float(preferenceValue: 0.1) == 0.1)
    #expect(try Float(preferenceValue: 16_777_217) == 16_777_216)
    #expect(
      try JSONFormat().values(from: Array(#"{"quality": 1}"#.utf8))["quality"].map(Double.init(preferenceValue:)) == 1)
    // Written as a double, always.
    #expect(Double(1).preferenceValue.kind == .double)
    #expect(Float(1).preferenceValue.kind == .double)
  }

  @Test func `NaN comes back as NaN`() throws {
    #expect(try Double(preferenceValue: Double.nan.preferenceValue).isNaN)
    #expect(try Float(preferenceValue: Float.nan.preferenceValue).isNaN)
  }

  @Test func `an integer of either kind is read exactly`() throws {
    #expect(try Int8(preferenceValue: .unsignedInteger(127)) == 127)
    #expect(try UInt64(preferenceValue: .integer(5)) == 5)
  }

  static let outOfRange: [(String, @Sendable () throws(PreferencesError) -> Void)] = [
    ("Int8 above", { () throws(PreferencesError) in _ = try Int8(preferenceValue: 128) }),
    ("UInt8 below", { () throws(PreferencesError) in _ = try UInt8(preferenceValue: -1) }),
    ("Int above", { () throws(PreferencesError) in _ = try Int(preferenceValue: .unsignedInteger(.max)) }),
    ("Double inexact", { () throws(PreferencesError) in _ = try Double(preferenceValue: 0x20_0000_0000_0001) }),
    ("Double unsigned", { () throws(PreferencesError) in _ = try Double(preferenceValue: .unsignedInteger(.max)) }),
    ("Float above", { () throws(PreferencesError) in _ = try Float(preferenceValue: 1e300) }),
  ]

  @Test(arguments: outOfRange.indices)
  func `a value that does not fit exactly is out of range`(row: Int) {
    let (name, body) = Self.outOfRange[row]
    #expect(preferencesError(body)?.code == .outOfRange, "\(name)")
  }

  static let all: [PreferenceValue] = PreferenceValueTests.samples.map(\.1)

  func refuses<Value: PreferenceConvertible>(_ type: Value.Type, from value: PreferenceValue) {
    let error = preferencesError { _ = try type.init(preferenceValue: value) }
    #expect(error?.code == .typeMismatch)
    #expect(error?.message == "expected \(type.preferenceKind), found \(value.kind)")
  }

  @Test(arguments: all)
  func `a value of another kind is a mismatch, however alike`(value: PreferenceValue) {
    if value.kind != .string { refuses(String.self, from: value) }
    if value.kind != .data { refuses(Data.self, from: value) }
    if value.kind != .bool { refuses(Bool.self, from: value) }
    if value.kind != .integer && value.kind != .unsignedInteger {
      refuses(Int.self, from: value)
      refuses(UInt8.self, from: value)
    }
    if value.kind != .double && value.kind != .integer && value.kind != .unsignedInteger {
      refuses(Double.self, from: value)
      refuses(Float.self, from: value)
    }
    if value.kind != .date { refuses(Date.self, from: value) }
    if value.kind != .url && value.kind != .string { refuses(URL.self, from: value) }
    if value.kind != .array { refuses([Int].self, from: value) }
    if value.kind != .dictionary { refuses([String: Int].self, from: value) }
  }

  @Test func `one bad element fails the whole collection and is named`() {
    let array = preferencesError { _ = try [Int](preferenceValue: [1, "two"]) }
    #expect(array?.message == "element 1: expected integer, found string")
    let dictionary = preferencesError { _ = try [String: [UInt8]](preferenceValue: ["a": [256]]) }
    #expect(dictionary?.code == .outOfRange)
    #expect(dictionary?.message == "entry \"a\": element 0: the integer does not fit UInt8")
  }
}
