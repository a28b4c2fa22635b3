import FoundationEssentials

/// A type that coding stores as a value of its own kind. Other types are stored part by part.
protocol StoredDirectly: PreferenceConvertible {}

extension String: StoredDirectly {}
extension Data: StoredDirectly {}
extension Bool: StoredDirectly {}
extension Date: StoredDirectly {}
extension URL: StoredDirectly {}
extension Double: StoredDirectly {}
extension Float: StoredDirectly {}
extension Int: StoredDirectly {}
extension Int8: StoredDirectly {}
extension Int16: StoredDirectly {}
extension Int32: StoredDirectly {}
extension Int64: StoredDirectly {}
extension UInt: StoredDirectly {}
extension UInt8: StoredDirectly {}
extension UInt16: StoredDirectly {}
extension UInt32: StoredDirectly {}
extension UInt64: StoredDirectly {}
extension Int128: StoredDirectly {}
extension UInt128: StoredDirectly {}

extension StoredDirectly {
  /// Whether a string is parsed as this type.
  static var isParsed: Bool { ![.string, .data].contains(preferenceKind) }
}
