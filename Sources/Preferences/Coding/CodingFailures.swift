extension PreferencesError {
  /// Returns the error of a failed encoding. The text of a foreign error may contain the value, so it is not repeated.
  public static func notEncodable(_ type: Any.Type, _ error: any Error) -> PreferencesError {
    switch error {
    case let error as PreferencesError: error
    case EncodingError.invalidValue(_, let context):
      // The cause would contain the value.
      PreferencesError(.notStorable, "the \(type) cannot be encoded").at(context.codingPath)
    default: PreferencesError(.notStorable, "the \(type) cannot be encoded", cause: error)
    }
  }

  /// Returns the error of a failed decoding. The text of a foreign error may contain the value, so it is not repeated.
  public static func notDecodable(_ type: Any.Type, _ error: any Error) -> PreferencesError {
    switch error {
    case let error as PreferencesError: return error
    case DecodingError.keyNotFound(let key, let context):
      return PreferencesError(.malformed, "it is missing", cause: error).at(context.codingPath + [key])
    case DecodingError.typeMismatch(_, let context):
      return notDecodable(type, error, context, .typeMismatch)
    case DecodingError.valueNotFound(_, let context), DecodingError.dataCorrupted(let context):
      return notDecodable(type, error, context, .malformed)
    default: return PreferencesError(.malformed, "the stored value is not of type \(type)", cause: error)
    }
  }

  private static func notDecodable(
    _ type: Any.Type, _ error: any Error, _ context: DecodingError.Context, _ code: Code
  ) -> PreferencesError {
    // Our own text is more precise, and contains no value.
    if let own = context.underlyingError as? PreferencesError { return own.at(context.codingPath) }
    return PreferencesError(code, "the stored value is not of type \(type)", cause: error).at(context.codingPath)
  }
}
