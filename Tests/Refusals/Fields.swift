import PreferencesSettings
import Preferences

final class Label: FieldObserver {
  func valueChanged(_ value: String?, of field: Field<String>) {}
}

struct Unequal: Sendable {}

// Fields of different types are not linked, nor observed by what takes a different type.
func refused(_ name: Field<String>, _ age: Field<Int>, _ label: Label) {
  name --> age  // error: cannot convert value of type 'Field<Int>'
  name <-- age  // error: cannot convert value of type 'Field<Int>'
  name <--> age  // error: cannot convert value of type 'Field<Int>'
  age --> label  // error: cannot convert value of type 'Field<Int>'
  label <-- age  // error: cannot convert value of type 'Field<Int>'
  age.addObserver(name)  // error: no exact matches in call to instance method 'addObserver'
  age --> { (value: String?) in print(value ?? "") }  // error: '@Sendable (String?) -> ()' to expected
  age --> { "\($0)" } --> age  // error: cannot convert value of type 'String'
  _ = *label  // error: cannot convert value of type 'Label'
}

func refused(_ field: Field<Unequal>) {}  // error: conform to protocol 'Equatable'
