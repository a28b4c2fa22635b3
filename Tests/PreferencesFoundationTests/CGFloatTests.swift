import Foundation
import Preferences
import PreferencesFoundation
import Testing

struct CGFloatTests {
  @Test(arguments: [0.0, -0.0, CGFloat.greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity, .nan])
  func `item 6: a CGFloat comes back bit for bit`(number: CGFloat) throws {
    let store = DictionaryPreferences()
    try store.set(number, forKey: "x")
    #expect(try store.value(for: PreferenceKey<CGFloat?>("x"))?.native.bitPattern == number.native.bitPattern)
  }
}
