public import Preferences

extension Field {
  /// Creates a field of an array from a field of its elements, which provides the name, and the conversion and the
  /// rules of each element. The list is read and stored in ordinary memory, also if the element's key has a conversion
  /// in guarded memory.
  ///
  /// ```swift
  /// let tags = Field(each: Field<String>("tags", rules: [.notBlank]), rules: [.length(...10)])
  /// ```
  ///
  /// - Parameters:
  ///   - value: the initial elements. If it is `nil`, the field is not loaded.
  ///   - rules: additional rules for the whole array.
  public convenience init<Element>(each element: Field<Element>, value: [Element]? = nil, rules: [Rule<Value>] = [])
  where Value == [Element] {
    self.init(
      element.key.list(), value: value, rules: [.each(element.rules)] + rules,
      keys: element.keys.mapValues { $0.list() }, now: element.now)
  }

  /// Appends an element. In a field without a value, it becomes the only element.
  public func append<Element>(_ element: Element) where Value == [Element] {
    change { $0 = ($0 ?? []) + [element] }
  }

  /// Removes the first element that equals `element`; does nothing if there is none.
  public func removeFirst<Element: Equatable>(_ element: Element) where Value == [Element] {
    change { elements in
      guard let index = elements?.firstIndex(of: element) else { return }
      elements?.remove(at: index)
    }
  }

  /// Removes the element at `index`.
  ///
  /// - Returns: the element.
  /// - Throws: ``PreferencesError/Code/outOfRange`` if there is none, with nothing changed.
  @discardableResult
  public func remove<Element>(at index: Int) throws(PreferencesError) -> Element where Value == [Element] {
    var removed: Element?
    try change { elements throws(PreferencesError) in
      guard var rest = elements, rest.indices.contains(index) else {
        throw PreferencesError(.outOfRange, "there is no element at \(index)").about(key: name)
      }
      removed = rest.remove(at: index)
      elements = rest
    }
    return removed!
  }

  /// Calls `added` and `removed` with each element that a change adds or removes, however the change is made, while the
  /// observation is held. The current elements are not reported.
  ///
  /// A change calls `removed` first, from the last element to the first, and then `added` in order.
  public func observeElements<Element: Equatable>(
    added: @escaping @Sendable (Element) -> Void = { _ in }, removed: @escaping @Sendable (Element) -> Void = { _ in }
  ) -> PreferenceObservation where Value == [Element] {
    add(
      .handler { old, new in
        for change in (new ?? []).difference(from: old ?? []) {
          switch change {
          case .insert(_, let element, _): added(element)
          case .remove(_, let element, _): removed(element)
          }
        }
      })
  }
}

extension PreferenceKey {
  /// The key of an array whose elements are converted like the value of this key.
  fileprivate func list<Element>() -> PreferenceKey<[Element]?> where Value == Element? {
    PreferenceKey<[Element]?>(
      name, kind: .array, secrecy: secrecy, makeDefault: { nil },
      decode: { [decode] stored throws(PreferencesError) in
        var elements: [Element] = []
        for (index, stored) in try [PreferenceValue](preferenceValue: stored).enumerated() {
          do throws(PreferencesError) { if let element = try decode(stored) { elements.append(element) } } catch {
            throw error.about("element \(index)")
          }
        }
        return elements
      },
      encode: { [encode] elements throws(PreferencesError) in
        guard let elements else { return nil }
        var stored: [PreferenceValue] = []
        for element in elements { if let value = try encode(element) { stored.append(value) } }
        return .array(stored)
      })
  }
}
