#if Configuration
  public import Configuration
  internal import FoundationEssentials
  public import Preferences

  /// A provider of swift-configuration as a read-only layer: the environment, a JSON or YAML file, the command line, a
  /// directory of files, or your own.
  ///
  /// ```swift
  /// let preferences = CompositePreferences([
  ///   secrets.claiming(.prefix("database.")),
  ///   ConfigProviderPreferences(EnvironmentVariablesProvider()),
  ///   ConfigProviderPreferences(try await FileProvider<JSONSnapshot>(filePath: "/etc/shop.json")),
  /// ])
  /// ```
  ///
  /// **Names.** Dots separate the components: `server.port` reads the key `["server", "port"]`, without context. A
  /// provider cannot list its keys, so ``names(of:)`` is always empty, and dictionaries made from the layer do not
  /// contain its values.
  ///
  /// **Types.** The provider is asked for the kind that the caller wants. Dates, URLs, dictionaries, and flags and
  /// numbers that it does not return as such are parsed from its text, by the rule of
  /// `PreferenceValue.init(parsing:as:)`; data is decoded by the provider alone. Without a
  /// kind, and for elements of a list, the first type that the provider returns is used, in the order text, whole
  /// number, number, Boolean, list, bytes. A provider of text therefore returns text, from which elements are parsed,
  /// and a JSON provider, which does not distinguish `true` from 1, returns 1. A dictionary whose members a provider
  /// has under keys of their own is absent.
  ///
  /// **Secrets.** A layer holds either plain values or secrets, and the caller decides which: the mark that a provider
  /// puts on each value is known too late to choose the layers of a lookup. In a plain layer, a value that the provider
  /// marks as secret is an error; it does not count as absent. `DirectoryFilesProvider` marks all of its values. In a
  /// layer of secrets, all values are secret, with or without the mark. They are in ordinary memory.
  public final class ConfigProviderPreferences: PreferencesReader {
    /// The name of this layer in explanations: `configuration PROVIDER`.
    public let name: String
    public let custody: Custody
    private let provider: any ConfigProvider

    /// Creates a layer.
    ///
    /// - Parameter secrecy: which values the layer holds. As a layer of a composite, a layer of secrets must claim
    ///   names: ``PreferencesReader/claiming(_:)``.
    public init(_ provider: some ConfigProvider, secrecy: Secrecy = .plain) {
      self.provider = provider
      name = "configuration \(provider.providerName)"
      custody = secrecy == .secret ? .sealed : .plain
    }

    /// Returns the value with the kind of the query, or with another kind of number; `nil` if the provider has none.
    ///
    /// - Throws: ``PreferencesError/Code/typeMismatch`` if the provider has a value that it cannot return as this kind;
    ///   ``PreferencesError/Code/unavailable`` if it marks the value as secret and the layer is plain; the provider's
    ///   error.
    public func value(for query: PreferenceQuery) throws -> PreferenceValue? {
      let name = query.name.text
      let key = AbsoluteConfigKey(ConfigKey(name))
      let found: ConfigValue?
      do { found = try first(of: ConfigType.types(of: query.kind), key) } catch {
        // The errors of providers have no public type. A provider that returns the value as a different type has not
        // failed.
        guard let kind = query.kind, hasValue(key) else { throw error }
        throw PreferencesError.unparsable("the provider's value", as: kind, key: name)
      }
      guard let found else { return nil }
      guard custody.holds(.secret) || !found.isSecret else {
        throw PreferencesError(
          .unavailable, "the provider marks the value as secret, and the layer was created for plain values"
        ).about(key: name)
      }
      switch (PreferenceValue(found.content), query.kind) {
      case (.string(let text), let kind?) where kind != .string:
        guard let value = PreferenceValue(parsing: text, as: kind) else {
          throw PreferencesError.unparsable("the provider's text", as: kind, key: name)
        }
        return value
      case (let value, _): return value
      }
    }

    /// Whether the provider returns a value of some type. Errors are ignored, because the lookup has already failed.
    private func hasValue(_ key: AbsoluteConfigKey) -> Bool {
      do { return try first(of: ConfigType.types(of: nil), key) != nil } catch { return false }
    }

    /// The first of `types` that the provider returns.
    /// - Throws: the first error, if all types fail.
    private func first(of types: [ConfigType], _ key: AbsoluteConfigKey) throws -> ConfigValue? {
      var failure: (any Error)?
      for type in types {
        do { return try provider.value(forKey: key, type: type).value } catch { failure = failure ?? error }
      }
      if let failure { throw failure }
      return nil
    }

    /// Always empty: a provider cannot list its keys.
    public func names(of secrecy: Secrecy) -> [PreferenceName] { [] }

    /// Calls `notify` for each snapshot that the provider publishes, including the first one. A provider that never
    /// changes publishes only the first one.
    ///
    /// If the provider cannot be watched, the error is reported to ``PreferenceFailures`` with the key `*`.
    public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
      // The provider's changes are not writes of the caller.
      let watch = ChangeBroadcast.unsuppressed {
        Task { [provider, name] in
          do {
            // The first snapshot may already be newer than what the observer has read. Observers may block.
            try await provider.watchSnapshot { for await _ in $0 { try await BlockingWork.run { notify(.anything) } } }
          } catch is CancellationError {} catch { PreferenceFailures.report(error, key: "*", reader: name) }
        }
      }
      return PreferenceObservation { watch.cancel() }
    }
  }

  extension ConfigProviderPreferences: CustomStringConvertible, CustomReflectable {}

  extension ConfigType {
    /// The types in which a provider may have a value of `kind`; all of them without a kind.
    fileprivate static func types(of kind: PreferenceValue.Kind?) -> [ConfigType] {
      let lists: [ConfigType] = [.stringArray, .intArray, .doubleArray, .boolArray, .byteChunkArray]
      return switch kind {
      case .string, .date, .url, .dictionary: [.string]
      // Its text may have any spelling, which the provider alone knows.
      case .data: [.bytes]
      // A provider may not return its text as a type although the text is a value of the kind: `on` as a flag, or a
      // number above `Int.max`.
      case .bool: [.bool, .string]
      case .integer, .unsignedInteger: [.int, .string]
      case .double: [.double, .int, .string]
      case .array: lists
      case nil: [.string, .int, .double, .bool] + lists + [.bytes]
      }
    }
  }

  extension PreferenceValue {
    fileprivate init(_ content: ConfigContent) {
      self =
        switch content {
        case .string(let text): .string(text)
        case .int(let number): .integer(Int64(number))
        case .double(let number): .double(number)
        case .bool(let flag): .bool(flag)
        case .bytes(let bytes): .data(Data(bytes))
        case .stringArray(let texts): .array(texts.map(Self.string))
        case .intArray(let numbers): .array(numbers.map { .integer(Int64($0)) })
        case .doubleArray(let numbers): .array(numbers.map(Self.double))
        case .boolArray(let flags): .array(flags.map(Self.bool))
        case .byteChunkArray(let chunks): .array(chunks.map { .data(Data($0)) })
        }
    }
  }
#endif
