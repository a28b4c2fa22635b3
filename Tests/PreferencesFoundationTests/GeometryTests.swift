import Foundation
import Preferences
import PreferencesFoundation
import Testing

struct GeometryTests {
  static let numbers: [CGFloat] = [
    0, -0.0, 0.1, 1 / 3, -123_456.789, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity, .nan,
  ]

  func bits(_ numbers: CGFloat...) -> [UInt64] { numbers.map(\.native.bitPattern) }

  @Test(arguments: numbers, numbers)
  func `item 6: points, sizes and rectangles come back bit for bit`(a: CGFloat, b: CGFloat) throws {
    let point = try CGPoint(preferenceValue: CGPoint(x: a, y: b).preferenceValue)
    #expect(bits(point.x, point.y) == bits(a, b))
    let size = try CGSize(preferenceValue: CGSize(width: b, height: a).preferenceValue)
    #expect(bits(size.width, size.height) == bits(b, a))
    let rect = try CGRect(preferenceValue: CGRect(x: a, y: b, width: b, height: a).preferenceValue)
    #expect(bits(rect.origin.x, rect.origin.y, rect.size.width, rect.size.height) == bits(a, b, b, a))
  }

  @Test func `item 54: geometry is stored as the strings of Foundation, which read them again`() throws {
    #expect(CGPoint(x: 1, y: 2.5).preferenceValue == "{1.0, 2.5}")
    #expect(CGSize(width: 1, height: 2.5).preferenceValue == "{1.0, 2.5}")
    #expect(CGRect(x: 1, y: 2, width: -3, height: 4).preferenceValue == "{{1.0, 2.0}, {-3.0, 4.0}}")
    #expect(NSRectFromString("{{1.0, 2.0}, {3.0, 4.0}}") == CGRect(x: 1, y: 2, width: 3, height: 4))
  }

  @Test(arguments: ["{{1, 2}, {3, 4}}", " { {1,2},{3 ,4} } ", "{{1.0, 2e0}, {3, 4.00}}"])
  func `text as other programs write it is read`(text: String) throws {
    #expect(try CGRect(preferenceValue: .string(text)) == CGRect(x: 1, y: 2, width: 3, height: 4))
  }

  @Test(arguments: [
    "", "{", "{}", "{,}", "{1}", "{1, 2", "1, 2}", "{1, 2, 3}", "{1; 2}", "{a, b}", "{1, }", "{1e999, 2}",
    "{{1, 2}, {3, 4}}",
    "{{1, 2}}", "}{", "{1, 2}x", "{\u{661}, 2}", String(repeating: "{", count: 100_000),
  ])
  func `text that is no point is refused, not read as zeros`(text: String) {
    #expect(preferencesError { _ = try CGPoint(preferenceValue: .string(text)) }?.code == .outOfRange)
    #expect(preferencesError { _ = try CGSize(preferenceValue: .string(text)) }?.code == .outOfRange)
  }

  @Test(arguments: ["", "{}", "{1, 2}", "{{1, 2}, 3}", "{{1, 2}, {3}}", "{{1, 2}, {3, 4}, {5, 6}}", "{{1, 2} {3, 4}}"])
  func `text that is no rectangle is refused`(text: String) {
    #expect(preferencesError { _ = try CGRect(preferenceValue: .string(text)) }?.code == .outOfRange)
  }

  @Test func `another kind is refused`() {
    #expect(preferencesError { _ = try CGPoint(preferenceValue: [1, 2]) }?.code == .typeMismatch)
    #expect(preferencesError { _ = try CGSize(preferenceValue: 1) }?.code == .typeMismatch)
    #expect(preferencesError { _ = try CGRect(preferenceValue: ["x": 1]) }?.code == .typeMismatch)
  }

  @Test func `item 52: geometry is stored like any other value, in collections too`() throws {
    let store = DictionaryPreferences()
    let (frame, path) = (PreferenceKey("frame", default: CGRect.zero), PreferenceKey<[CGPoint]?>("path"))
    #expect(try store.value(for: frame) == .zero)
    try store.set(CGRect(x: 1, y: 2, width: 3, height: 4), for: frame)
    try store.set([CGPoint(x: 1, y: 2), .zero], for: path)
    #expect(try store.value(for: frame) == CGRect(x: 1, y: 2, width: 3, height: 4))
    #expect(try store.value(for: path) == [CGPoint(x: 1, y: 2), .zero])
  }
}
