/// What every layer of a composite says about one key, without any value.
public struct Explanation: Sendable {
  /// What one layer says.
  public enum Answer: Sendable {
    /// It has a value of this kind, and lookups return it.
    case answered(PreferenceValue.Kind)
    /// It has a value of this kind, but a layer above answers first.
    case hidden(PreferenceValue.Kind)
    /// It has no value.
    case absent
    /// It could not say, and why.
    case failed(any Error)
    /// A layer above failed, or the layer holds no values of the key's secrecy.
    case notAsked
  }

  /// One layer and what it says.
  public struct Layer: Sendable {
    /// What the layer calls itself.
    public let name: String
    /// What it said of the key.
    public let answer: Answer
  }

  /// The key that was asked for.
  public let key: String
  /// The layers in the order they win.
  public let layers: [Layer]
}

extension CompositePreferences {
  /// Looks `key` up in every layer, and says which answers, which are hidden and which failed.
  ///
  /// Kinds are those that are stored: a text-backed layer says string. A failure is part of the explanation, not thrown; the
  /// layers below it are not asked, and neither are those that hold no values of the key's secrecy.
  /// - Throws: ``PreferencesError/Code/invalidKey``.
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
          let kind = try layer.value(for: query)?.kind
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
    // The text of a foreign error may hold a value, its type cannot.
    case .failed(let error): "fails (\(type(of: error)))"
    case .notAsked: "not asked"
    }
  }
}
