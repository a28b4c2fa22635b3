internal import Preferences
/// A class whose objects can be read out of a ``KeyedArchive``, and its mutable variant.
public enum ArchivedClass: String, Sendable, Hashable, CaseIterable {
  /// Text.
  case string = "NSString"
  /// Integers, floating-point numbers and booleans.
  case number = "NSNumber"
  /// Bytes.
  case data = "NSData"
  /// Points in time.
  case date = "NSDate"
  /// URLs, including relative URLs.
  case url = "NSURL"
  /// UUIDs; they read as strings.
  case uuid = "NSUUID"
  /// Lists.
  case array = "NSArray"
  /// Dictionaries with strings for keys.
  case dictionary = "NSDictionary"
  /// Sets; they read as lists with a fixed order.
  case set = "NSSet"

  /// The class with this name; `nil` if objects of the class cannot be read.
  init?(className name: String) {
    self.init(rawValue: name.hasPrefix("NSMutable") ? "NS" + name.dropFirst("NSMutable".count) : name)
  }
}
