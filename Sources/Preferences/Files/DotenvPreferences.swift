/// Preferences in a dotenv file, such as `.env`: lines of `NAME=value`.
///
/// All values are strings, which a lookup parses as the kind that the caller wants. Values of other kinds are refused
/// as `unsupportedByFormat`. A write changes the lines of the names that it changes, and keeps every other byte of the
/// file. The removal of a name removes all of its lines; comments stay, even if they contain an old value.
///
/// ``DotenvFormat`` describes the syntax that is read.
public typealias DotenvPreferences = FilePreferences<DotenvFormat>
