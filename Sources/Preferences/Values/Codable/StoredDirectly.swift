import FoundationEssentials

/// A type with its own kind. Coding stores its values unchanged, and other types by their parts.
protocol StoredDirectly: PreferenceConvertible {}

extension String: StoredDirectly {}
extension Data: StoredDirectly {}
extension Bool: StoredDirectly {}
extension Date: StoredDirectly {}
extension URL: StoredDirectly {}
extension Double: StoredDirectly {}
extension Float: StoredDirectly {}
