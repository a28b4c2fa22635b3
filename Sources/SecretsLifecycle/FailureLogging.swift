#if ServiceLifecycle
  public import Logging
  public import Preferences
  internal import Secrets
  internal import VaultCore

  extension Logger {
    /// Logs a failure that a subscript, a property wrapper or an observer could not throw.
    ///
    /// ```swift
    /// PreferenceFailures.setHandler { logger.log($0) }
    /// ```
    ///
    /// The line names the reader and the code of the error. The text of an error of a different module may contain a
    /// value, so of such an error only the type is logged.
    ///
    /// - Parameter includingKey: whether the line also has the key and the message that contains it. In a vault, the
    ///   key is the name of a secret.
    public func log(
      _ failure: PreferenceFailures.Failure, level: Logger.Level = .error, includingKey: Bool = false
    ) {
      var metadata = failure.error.metadata(includingKey: includingKey)
      metadata["preferences.reader"] = "\(failure.reader)"
      if includingKey { metadata["preferences.key"] = "\(failure.key)" }
      log(level: level, "A preference could not be read or written", metadata: metadata)
    }
  }

  extension Error {
    /// What can be logged of any error: no value, and no key unless `includingKey`.
    func metadata(includingKey: Bool = false) -> Logger.Metadata {
      var metadata: Logger.Metadata = ["error.type": "\(type(of: self))"]
      metadata["error.code"] = code.map { "\($0)" }
      switch self {
      case let error as VaultError: metadata["error.message"] = "\(error.message)"
      case let error as PreferencesError:
        if includingKey { metadata["error.message"] = "\(error.message)" }
        // If a layer failed, its error is the cause.
        metadata["error.cause"] = error.cause?.code.map { "\($0)" }
      default: break
      }
      return metadata
    }

    /// The code of an error of this package.
    private var code: String? {
      switch self {
      case let error as VaultError: error.code.rawValue
      case let error as PreferencesError: error.code.rawValue
      case let error as RefreshFailure: error.code.rawValue
      default: nil
      }
    }
  }
#endif
