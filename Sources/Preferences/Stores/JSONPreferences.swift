/// Preferences in a JSON file.
///
/// Every value comes back with its type: `true`, `1` and `1.0` are a bool, an integer and a double. Integers above
/// `Int64.max` are unsigned. What JSON has no form for is written as an object of one member: data as `$data`, in Base64,
/// a URL as `$url`, a date as `$date`, in seconds since 2001, a smaller unsigned integer as `$unsigned`, and an infinity or
/// NaN as `$double`. A member that is null is absent.
///
/// Use ``PreferencesReader/readOnly`` for a file that only people write.
public typealias JSONPreferences = FilePreferences<JSONFormat>
