/// Preferences in an XML or binary property list.
///
/// `<true/>`, `<integer>1</integer>` and `<real>1</real>` are a bool, an integer and a double; integers above
/// `Int64.max` are unsigned. URLs are strings, any other unsigned integer is an integer, and in XML a date that is not
/// a whole second is a string, in RFC 3339: a key of the type reads them back, at any depth, and a lookup without a
/// type returns what is stored.
///
/// With `PropertyListFormat(_:keepingTypes: true)` every value is read back with its type. What the format does not
/// have is then a dictionary of one member, which no other program reads: a URL is `$url`, an unsigned integer
/// `$unsigned`, and a date `$date`, in seconds since 2001. All marks are read in either case.
///
/// A write to an XML file changes the text of the values that it changes, and no other byte of the file, so that
/// comments and the order of names stay. A binary file is written anew.
///
/// Use `PreferencesReader.readOnly` for a file that only people write.
public typealias PropertyListPreferences = FilePreferences<PropertyListFormat>
