/// What a user can do about an error, found where the error was thrown. It is the cause of the error.
struct Cure: Error {
  let hint: String
}
