internal import FoundationEssentials
internal import Preferences

enum Theme: String, PreferenceConvertible, Codable, PreferenceDictionaryKey { case light, dark }
enum Level: Int, PreferenceConvertible { case low = 1, high = 9 }

struct Rights: OptionSet, PreferenceConvertible, Hashable {
  let rawValue: UInt8
  static let read = Self(rawValue: 1)
  static let write = Self(rawValue: 128)
}

/// A type with a conversion of its own.
struct Celsius: PreferenceConvertible, Hashable {
  var degrees: Double
  static var preferenceKind: PreferenceValue.Kind { .double }
  var preferenceValue: PreferenceValue { .double(degrees) }
  init(_ degrees: Double) { self.degrees = degrees }
  init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    degrees = try Double(preferenceValue: value)
  }
}

/// A type that is `Codable` and conforms to no protocol of this package.
struct Server: Codable, Hashable {
  var host = "default"
  var port: UInt16 = 1
  var since = Date(timeIntervalSinceReferenceDate: 0.25)
  var key = Data([0, 255])
  var home = URL(filePath: "/")
  var proxy: String?
  var theme = Theme.light
  var tags: [String] = []
}

indirect enum Tree: Codable, Hashable, Sendable {
  case leaf(Int)
  case node(left: Tree, right: Tree)
}
