/// An object of a different library that has a stored form, such as a number of Foundation.
package protocol StorableObject {
  /// The object as a store keeps it.
  var storedValue: PreferenceValue { get }
}
