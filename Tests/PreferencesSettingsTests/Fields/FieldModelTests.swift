import PreferencesSettings
import Preferences
import Testing

private final class Address: FieldModel {
  let city = Field<String>("city")
  let zip = Field<Int>("zip")
  var fields: [any AnyField] { [city, zip] }
}

private final class Person: FieldModel {
  let name = Field<String>("name")
  let address = Field(PreferenceKey("address", makeModel: Address.init))
  let partner = Field(PreferenceKey("partner", makeModel: Person.init))
  let friends = *Field(PreferenceKey("friends", makeModel: Person.init))
  var fields: [any AnyField] { [name, address, partner, friends] }

  init() {}
  init(_ name: String) { self.name.value = name }
}

/// Models of fields in fields.
struct FieldModelTests {
  @Test func `a model in a field is a dictionary`() throws {
    let (person, address) = (Person("Ann"), Address())
    address.city.value = "Ulm"
    person.address.value = address
    #expect(try person.exportValues() == ["name": "Ann", "address": ["city": "Ulm"]])
  }

  @Test func `a dictionary is imported as a new model`() throws {
    let person = Person("Ann")
    try person.importValues(from: ["address": ["city": "Ulm", "zip": 89073]])
    #expect(person.address.value?.city.value == "Ulm" && person.address.value?.zip.value == 89073)
    #expect(person.name.value == "Ann")
  }

  @Test func `a bad value in a model is reported with its path, and the field keeps its model`() {
    let (person, address) = (Person("Ann"), Address())
    person.address.value = address
    let error = #expect(throws: PreferencesError.self) {
      try person.importValues(from: ["address": ["city": "Ulm", "zip": "s3ntinel"]])
    }
    #expect(error?.message.contains(#"key "address": key "zip""#) == true)
    #expect(error?.message.contains("s3ntinel") == false)
    #expect(person.address.value === address)
  }

  @Test func `item 104: a model that is being exported is left out, and one that occurs twice is not`() throws {
    let (ann, bob, eve) = (Person("Ann"), Person("Bob"), Person("Eve"))
    (ann.partner.value, bob.partner.value) = (bob, ann)
    ann.friends.value = [ann, eve, bob, eve]
    #expect(
      try ann.exportValues() == [
        "name": "Ann", "partner": ["name": "Bob"],
        "friends": [["name": "Eve"], ["name": "Bob"], ["name": "Eve"]],
      ])
  }

  @Test func `a model that is left out is not null`() throws {
    let ann = Person("Ann")
    ann.partner.value = ann
    #expect(try ann.exportValues(explicitNull: true) == ["name": "Ann"])
  }
}
