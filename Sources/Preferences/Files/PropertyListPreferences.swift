/// Preferences in an XML or binary property list.
///
/// Every value is read back with its type: `<true/>`, `<integer>1</integer>` and `<real>1</real>` are a bool, an
/// integer and a double. Integers above `Int64.max` are unsigned. Values that the format does not have are dictionaries
/// of one member: a URL is `$url`, any other unsigned integer `$unsigned`, and in XML a date that is not a whole second
/// `$date`, in seconds since 2001.
///
/// Use `PreferencesReader.readOnly` for a file that only people write.
public typealias PropertyListPreferences = FilePreferences<PropertyListFormat>
