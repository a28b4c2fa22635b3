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
    let elements: [Element] = try storedElements(value)
    do { try self.init(elements) } catch let error as PreferencesError { throw error } catch {
      throw PreferencesError(.outOfRange, "the elements are no \(Self.self)", cause: error)
    }
  }

  public var preferenceValue: PreferenceValue { .array(map(\.preferenceValue)) }
}

extension Array: PreferenceConvertible, PreferenceCollection where Element: PreferenceConvertible {}
extension ContiguousArray: PreferenceConvertible, PreferenceCollection where Element: PreferenceConvertible {}
extension ArraySlice: PreferenceConvertible, PreferenceCollection where Element: PreferenceConvertible {}

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
    let elements: [Element] = try storedElements(value)
    self.init(elements)
  }

  public var preferenceValue: PreferenceValue {
    .array(preferenceElements.map(\.preferenceValue).sorted { PreferenceValueOrder.compare($0, $1) == .less })
  }
}

extension PreferenceSetAlgebra where Self: Sequence {
  /// The elements in the order of the sequence.
  public var preferenceElements: [Element] { Array(self) }
}

extension Set: PreferenceConvertible, PreferenceSetAlgebra where Element: PreferenceConvertible {}

private func storedElements<Element: PreferenceConvertible>(
  _ value: PreferenceValue
) throws(PreferencesError) -> [Element] {
  guard case .array(let values) = value else { throw .mismatch(expected: .array, found: value.kind) }
  var elements: [Element] = []
  elements.reserveCapacity(values.count)
  for (index, value) in values.enumerated() {
    do { elements.append(try Element(preferenceValue: value)) } catch { throw error.about("element \(index)") }
  }
  return elements
}
