/// A collection that is stored as an array, element by element; one element that does not convert fails the whole.
///
/// A collection with an initialiser that takes its elements, such as every `RangeReplaceableCollection`, needs one
/// line:
///
/// ```swift
/// extension Playlist: PreferenceCollection {}
/// ```
public protocol PreferenceCollection: PreferenceConvertible, Collection where Element: PreferenceConvertible {
  /// Creates the collection of what is stored, in that order. What it throws keeps the stored value from being read.
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

/// A set of whatever shape, stored as an array; one element that does not convert fails the whole.
///
/// The elements are stored in one fixed order, so that equal sets are equal values. An element that is there twice is
/// read as one. A set that is a `Sequence` needs one line; any other says what its elements are:
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
