/// A collection that is stored as an array. If one element does not convert, the whole collection fails.
///
/// A collection with an initializer that takes its elements, such as every `RangeReplaceableCollection`, needs one
/// line:
///
/// ```swift
/// extension Playlist: PreferenceCollection {}
/// ```
public protocol PreferenceCollection: PreferenceConvertible, Collection where Element: PreferenceConvertible {
  /// Creates the collection from the stored elements, in order. If it throws, the stored value cannot be read.
  init(_ elements: [Element]) throws
}

extension PreferenceCollection {
  public static var preferenceKind: PreferenceValue.Kind { .array }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    let elements = try [Element](preferenceValue: value)
    do { try self.init(elements) } catch let error as PreferencesError { throw error } catch {
      throw PreferencesError(.outOfRange, "the elements are no \(Self.self)", cause: error)
    }
  }

  public var preferenceValue: PreferenceValue { .array(map(\.preferenceValue)) }
}

/// A set that is stored as an array. If one element does not convert, the whole set fails.
///
/// The elements are stored in a fixed order, so that equal sets are equal values. Repeated elements are read as one. A
/// set that is a `Sequence` needs one line; any other implements ``preferenceElements``:
///
/// ```swift
/// extension Bag: PreferenceSetAlgebra {}
/// ```
public protocol PreferenceSetAlgebra: PreferenceConvertible, SetAlgebra where Element: PreferenceConvertible {
  /// The elements, each once, in any order.
  var preferenceElements: [Element] { get }
}

extension PreferenceSetAlgebra {
  public static var preferenceKind: PreferenceValue.Kind { .array }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    self.init(try [Element](preferenceValue: value))
  }

  /// The elements in the order in which a `Set` is stored.
  public var preferenceValue: PreferenceValue { Set(preferenceElements.map(\.preferenceValue)).preferenceValue }
}

extension PreferenceSetAlgebra where Self: Sequence {
  /// The elements in the order of the sequence.
  public var preferenceElements: [Element] { Array(self) }
}
