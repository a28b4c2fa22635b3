/// Preferences in a JSON file.
///
/// Every value is read back with its type: `true`, `1` and `1.0` are a bool, an integer and a double. Integers above
/// `Int64.max` are unsigned. Values that JSON does not have are objects of one member: data is `$data`, in Base64, a
/// URL `$url`, a date `$date`, in seconds since 2001, any other unsigned integer `$unsigned`, infinity or NaN
/// `$double`. A null member is absent.
///
/// Use `PreferencesReader.readOnly` for a file that only people write.
public typealias JSONPreferences = FilePreferences<JSONFormat>
