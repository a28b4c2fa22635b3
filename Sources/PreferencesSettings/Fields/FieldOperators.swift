import Preferences

/// Lower than all operators that compute a value, so that `a --> { $0 * 2 } --> b` needs no parentheses.
precedencegroup FieldLinkPrecedence {
  associativity: left
  higherThan: AssignmentPrecedence
  lowerThan: TernaryPrecedence
}

infix operator --> : FieldLinkPrecedence
infix operator <-- : FieldLinkPrecedence
infix operator <--> : FieldLinkPrecedence
infix operator -/-> : FieldLinkPrecedence
prefix operator *

// MARK: Fields to fields

/// Sets `other` to the value of `field` now, and again when it changes.
///
/// - Returns: `other`. So in `a --> b --> c`, `c` follows `b`, and a value that is set in `b` directly also reaches
///   `c`.
@discardableResult
public func --> <Value>(field: Field<Value>, other: Field<Value>) -> Field<Value> {
  field.addObserver(other)
  return other
}

/// Sets `field` to the value of `other` now, and again when it changes.
public func <-- <Value>(field: Field<Value>, other: Field<Value>) { other.addObserver(field) }

/// Sets `field` to the value of `other` now, and either field when the other field changes.
public func <--> <Value>(field: Field<Value>, other: Field<Value>) {
  // First, so that the newer number of the second link reaches both fields.
  field.link(to: other, isInitial: false) { $0 }
  other.link(to: field) { $0 }
}

// MARK: Fields to closures and observers

/// Calls `handler` with the value of `field` now, and after each change, as long as the field exists. A field has one
/// such closure: a second one replaces it.
public func --> <Value>(field: Field<Value>, handler: @escaping @Sendable (Value?) -> Void) {
  field.add(.handler { _, new in handler(new) }, owner: ObjectIdentifier(Field<Value>.self)).tie(to: field)
}

/// Calls a closure that belongs to an owner, as ``Field/observe(owner:_:)``: `field --> owner { value in … }`. For an
/// object that is not a ``FieldOwner``, write a pair: `field --> (object, { value in … })`.
public func --> <Value>(
  field: Field<Value>, owned: (owner: some AnyObject, handler: @Sendable (Value?) -> Void)
) {
  field.observe(owner: owned.owner, owned.handler)
}

/// Notifies `observer`, as ``Field/addObserver(_:)-(Observer)``.
public func --> <Observer: FieldObserver>(field: Field<Observer.Value>, observer: Observer) {
  field.addObserver(observer)
}

/// Notifies `observer`, as ``Field/addObserver(_:)-(Observer)``.
public func <-- <Observer: FieldObserver>(observer: Observer, field: Field<Observer.Value>) {
  field.addObserver(observer)
}

/// Stops notifying `observer` of `field`: an observer, a linked field, or the owner of a closure.
public func -/-> <Value>(field: Field<Value>, observer: AnyObject) { field.removeObserver(observer) }

// MARK: Through a closure

/// The values of a field, transformed by a closure: the result of the first `-->` in
/// `dollars --> { $0 * 100 } --> cents`.
public struct MappedField<Source: Sendable & Equatable, Value: Sendable & Equatable>: Sendable {
  let source: Field<Source>
  let transform: @Sendable (Source) -> Value?
}

/// Transforms the values of `field` for the next operator in the chain. `nil` stays `nil`.
public func --> <Source, Value>(
  field: Field<Source>, transform: @escaping @Sendable (Source) -> Value?
) -> MappedField<Source, Value> {
  MappedField(source: field, transform: transform)
}

/// Sets `other` to the transformed value now, and again when the value changes.
///
/// - Returns: `other`.
@discardableResult
public func --> <Source, Value>(mapped: MappedField<Source, Value>, other: Field<Value>) -> Field<Value> {
  mapped.source.link(to: other, mapped.transform)
  return other
}

/// Calls `handler` with the transformed value now, and after each change. Replaces the closure of the source field, if
/// there is one.
public func --> <Source, Value>(
  mapped: MappedField<Source, Value>, handler: @escaping @Sendable (Value?) -> Void
) {
  mapped.source --> { value in handler(value.flatMap(mapped.transform)) }
}

/// Transforms the values once more.
public func --> <Source, Value, Other>(
  mapped: MappedField<Source, Value>, transform: @escaping @Sendable (Value) -> Other?
) -> MappedField<Source, Other> {
  MappedField(source: mapped.source) { mapped.transform($0).flatMap(transform) }
}

// MARK: Arrays

/// Creates a field of an array from a field of its elements, as ``Field/init(each:value:rules:)``.
public prefix func * <Element>(element: Field<Element>) -> Field<[Element]> { Field(each: element) }
