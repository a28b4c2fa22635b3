/// Preferences in a JSON file.
///
/// Every value is read back with its type: `true`, `1` and `1.0` are a bool, an integer and a double. Integers above
/// `Int64.max` are unsigned. Values that JSON does not have are objects of one member: data is `$data`, in Base64, a
/// URL `$url`, a date `$date`, in seconds since 2001, any other unsigned integer `$unsigned`, infinity or NaN
/// `$double`. A null member is absent, and is kept when the file is written.
///
/// An integer beyond 64 bits is read as a double. What no value can represent does not make the file unreadable: an
/// array with null is a dictionary with the one member `$json`, and members whose names differ only in their Unicode
/// composition are one with the member `$members`. Reading such a value as another type fails; writing the file keeps
/// it.
///
/// Use `PreferencesReader.readOnly` for a file that only people write.
public typealias JSONPreferences = FilePreferences<JSONFormat>
