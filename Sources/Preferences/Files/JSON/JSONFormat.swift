/// JSON files.
///
/// A file that is written keeps the bytes of every value that does not change, with the order of names, the spellings
/// of numbers and texts, and null. A file with comments, which JSON does not have, is refused when it is read.
///
/// Dates and URLs are written as text, and unsigned integers as integers, which other programs read. A key of their
/// type converts them back; ``init(keepingTypes:)`` marks them instead. ``JSONPreferences`` describes the marks.
///
/// `JSONDecoder` is not used, because it reads `1.0` as an integer on request and accepts repeated members.
public struct JSONFormat: PreferenceFileFormat {
  public static let name = "JSON file"

  /// Whether each value is read back with its type, even without a key that names the type.
  public let keepsTypes: Bool

  public init() { keepsTypes = false }

  /// Creates the format.
  ///
  /// - Parameter keepsTypes: whether dates, URLs and unsigned integers are written with marks that no other program
  ///   reads, so that each value is read back with its type.
  public init(keepingTypes keepsTypes: Bool) { self.keepsTypes = keepsTypes }

  public func values(from bytes: [UInt8]) throws(PreferencesError) -> [String: PreferenceValue] {
    var parser = try JSONParser(bytes)
    return try Self.marks().unmarked(try parser.parse())
  }

  public func bytes(
    of values: [String: PreferenceValue], replacing old: [UInt8]?
  ) throws(PreferencesError) -> [UInt8] {
    let marks = Self.marks(keepingTypes: keepsTypes)
    let marked = try Self.marked(values, marks)
    if let old {
      let editor = DocumentEditor(syntax: JSONSyntax(old), marks: marks)
      if let edited = try editor.edit(to: values, reading: self.values(from:)) { return edited }
    }
    return JSONWriter.document(marked)
  }

  private static func marked(
    _ values: [String: PreferenceValue], _ marks: ValueMarks
  ) throws(PreferencesError) -> [String: PreferenceValue] {
    // Also before, because the marks are put in by recursion.
    try ValueBudget.check(values)
    let marked = try marks.marked(values)
    try ValueBudget.check(marked)
    return marked
  }

  /// Returns the members of a JSON object, such as the body of a request, with `nil` for null; otherwise as
  /// ``values(from:)``. In an object inside a member, null is absent.
  ///
  /// ```swift
  /// try person.importValues(from: JSONFormat.members(of: body))                        // {"name": null} sets nil
  /// let answer = try JSONFormat.document(of: person.exportValues(explicitNull: true))
  /// ```
  ///
  /// - Throws: `malformed`, `limitExceeded`.
  public static func members(of document: [UInt8]) throws(PreferencesError) -> [String: PreferenceValue?] {
    var parser = try JSONParser(document)
    let members = try parser.parseMembers()
    let values = try marks().unmarked(members.compactMapValues(\.self))
    return Dictionary(uniqueKeysWithValues: members.keys.map { ($0, values[$0]) })
  }

  /// Returns a JSON object from which ``members(of:)`` returns the same members, with null for `nil`.
  ///
  /// - Throws: as ``bytes(of:replacing:)``.
  public static func document(of members: [String: PreferenceValue?]) throws(PreferencesError) -> [UInt8] {
    var marked = try marked(members.compactMapValues(\.self), marks(keepingTypes: true))
    for (name, value) in members where value == nil { marked[name] = JSONText.foreign("null") }
    return JSONWriter.document(marked)
  }

  /// Returns a value of any type as JSON text in one line, from which ``value(of:)`` returns it with its type.
  ///
  /// - Throws: `unsupportedByFormat` for a date that is not finite; `limitExceeded` for values that ``value(of:)``
  ///   would refuse.
  public static func text(of value: PreferenceValue) throws(PreferencesError) -> [UInt8] {
    // Also before, because the marks are put in by recursion.
    try ValueBudget.check(value)
    let value = try marks(isStrict: true).marked(value)
    try ValueBudget.check(value)
    return JSONWriter.line(value)
  }

  /// Returns the value that a JSON text represents.
  ///
  /// - Throws: `malformed`, also for what a file may contain: null, numbers beyond 64 bits, and marks of other
  ///   programs; `limitExceeded`.
  public static func value(of text: [UInt8]) throws(PreferencesError) -> PreferenceValue {
    var parser = try JSONParser(text)
    return try marks(isStrict: true).unmarked(try parser.parseValue())
  }

  private static func marks(isStrict: Bool = false, keepingTypes keepsTypes: Bool = true) -> ValueMarks {
    ValueMarks(isStrict: isStrict, keepsTypes: keepsTypes) { value in
      switch value {
      case .data, .date, .url: false
      case .unsignedInteger(let number): number > Int64.max
      case .double(let number): number.isFinite
      default: true
      }
    }
  }
}
