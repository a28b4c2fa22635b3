/// How each layer of a composite answers for one key, without any value.
public struct Explanation: Sendable {
  /// How one layer answers.
  public enum Answer: Sendable {
    /// The layer has a value of this kind, and lookups return it.
    case answered(PreferenceValue.Kind)
    /// The layer has a value of this kind, but a layer above answers first.
    case hidden(PreferenceValue.Kind)
    /// The layer has no value.
    case absent
    /// The layer failed with this error.
    case failed(any Error)
    /// A layer above failed, or the layer holds no values of the key's secrecy.
    case notAsked
  }

  /// One layer and its answer.
  public struct Layer: Sendable {
    /// The name of the layer.
    public let name: String
    /// The answer of the layer for the key.
    public let answer: Answer
  }

  /// The key that was looked up.
  public let key: String
  /// The layers, highest precedence first.
  public let layers: [Layer]
}

extension CompositePreferences {
  /// Looks up `key` in every layer, and reports which layer answers, which are hidden and which failed.
  ///
  /// Reports the kind of the stored value: string for a text-backed layer. A failure is part of the explanation
  /// and is not thrown. The layers below a failed layer are not queried, nor are layers that hold no values of the
  /// key's secrecy.
  /// - Throws: ``PreferencesError/Code/invalidKey``, ``PreferencesError/Code/unclaimed``.
  public func explain(_ key: String) throws(PreferencesError) -> Explanation {
    let name = try PreferenceName(key)
    let secrecy = try resolved(name, .plain)
    let query = PreferenceQuery(name, secrecy: secrecy)
    var isAnswered = false
    var hasFailed = false
    return Explanation(
      key: key,
      layers: layers.map { layer in
        guard !hasFailed, layer.custody.fixed.holds(secrecy) else {
          return Explanation.Layer(name: layer.name, answer: .notAsked)
        }
        let answer: Explanation.Answer
        do {
          let kind = try layer.guardedLookUp(query)?.preferenceKind()
          answer = kind.map { isAnswered ? .hidden($0) : .answered($0) } ?? .absent
          isAnswered = isAnswered || kind != nil
        } catch {
          answer = .failed(error)
          hasFailed = true
        }
        return Explanation.Layer(name: layer.name, answer: answer)
      })
  }
}

extension Explanation: CustomStringConvertible {
  /// The key, then one line for each layer.
  public var description: String {
    let names = layers.map { escapedForDisplay($0.name) }
    let width = names.map(\.count).max() ?? 0
    let rankWidth = String(layers.count).count
    let lines = layers.indices.map { index in
      let rank = String(index + 1)
      let indent = String(repeating: " ", count: 2 + rankWidth - rank.count)
      let padding = String(repeating: " ", count: 3 + width - names[index].count)
      return "\(indent)\(rank)  \(names[index])\(padding)\(layers[index].answer)"
    }
    return ([escapedForDisplay(key)] + lines).joined(separator: "\n")
  }
}

extension Explanation.Answer: CustomStringConvertible {
  public var description: String {
    switch self {
    case .answered(let kind): "answers (\(kind))"
    case .hidden(let kind): "hidden (\(kind))"
    case .absent: "absent"
    case .failed(let error as PreferencesError): "fails (\(error))"
    case .failed(let error as any ClassifiedError): "fails (\(error.failureCode))"
    // The text of a foreign error may hold a value, its type cannot.
    case .failed(let error): "fails (\(type(of: error)))"
    case .notAsked: "not asked"
    }
  }
}
