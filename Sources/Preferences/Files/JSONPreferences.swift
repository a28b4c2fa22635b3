/// Preferences in a JSON file.
///
/// `true`, `1` and `1.0` are a bool, an integer and a double; integers above `Int64.max` are unsigned. Dates and URLs
/// are text, dates in RFC 3339, and any other unsigned integer is an integer: a key of the type reads them back, at any
/// depth, and a lookup without a type returns the text. Values that JSON cannot represent are objects of one member:
/// data is `$data`, in Base64, infinity or NaN `$double`, and a date whose text would be a different date `$date`, in
/// seconds since 2001.
///
/// With `JSONFormat(keepingTypes: true)` every value is read back with its type: dates are `$date`, URLs `$url` and
/// unsigned integers `$unsigned`, which no other program reads. All marks are read in either case.
///
/// A write changes the text of the values that it changes, and no other byte of the file: names stay in their order,
/// and numbers in their spelling. A null member is absent, and is kept, except in an object inside an array whose
/// number of items changes; an object inside the file that has nothing else left after a removal is removed with it. A
/// file with comments is refused.
///
/// A number that is no integer of 64 bits is read as a double, which has 17 significant digits: write a `Decimal` with
/// more digits as a string. What no value can represent does not make the file unreadable: an
/// array with null is a dictionary with the one member `$json`, and members whose names differ only in their Unicode
/// composition are one with the member `$members`. Reading such a value as another type fails; writing the file keeps
/// it.
///
/// Use `PreferencesReader.readOnly` for a file that only people write.
public typealias JSONPreferences = FilePreferences<JSONFormat>
