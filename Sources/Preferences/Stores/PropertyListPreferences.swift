/// Preferences in an XML or binary property list.
///
/// Every value comes back with its type: `<true/>`, `<integer>1</integer>` and `<real>1</real>` are a
/// bool, an integer and a double. Integers above `Int64.max` are unsigned. What the format has no element for is written
/// as a dictionary of one member: a URL as `$url`, a smaller unsigned integer as `$unsigned`, and in XML a date that is
/// no whole second as `$date`, in seconds since 2001.
///
/// Use ``PreferencesReader/readOnly`` for a file that only people write.
public typealias PropertyListPreferences = FilePreferences<PropertyListFormat>
