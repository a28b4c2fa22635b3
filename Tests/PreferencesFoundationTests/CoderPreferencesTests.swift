import Foundation
import Preferences
import PreferencesFoundation
import Testing

/// An object that keeps some of its properties in preferences.
final class CodedWindow: NSObject, NSSecureCoding {
  static let supportsSecureCoding = true
  let title: String
  let frame: [Double]
  let child: CodedWindow?

  init(_ title: String, _ frame: [Double], _ child: CodedWindow? = nil) {
    self.title = title
    self.frame = frame
    self.child = child
  }

  func encode(with coder: NSCoder) {
    coder.encode(child, forKey: "child")
    #expect(throws: Never.self) {
      try coder.encodePreferences { store in
        try store.set(title, forKey: "title")
        try store.set(frame, forKey: "window.frame")
      }
    }
  }

  init?(coder: NSCoder) {
    child = coder.decodeObject(of: CodedWindow.self, forKey: "child")
    do {
      let read = try coder.decodePreferences { reader throws in
        (try reader.string(forKey: "title"), try reader.value(for: PreferenceKey<[Double]?>("window.frame")))
      }
      guard let title = read.0, let frame = read.1 else { return nil }
      self.title = title
      self.frame = frame
    } catch { return nil }
  }
}

/// A coder without keys.
private final class PlainCoder: NSCoder {}

struct CoderPreferencesTests {
  private func decoder(
    _ format: PropertyListSerialization.PropertyListFormat = .binary, _ encode: (NSKeyedArchiver) throws -> Void
  ) throws -> NSKeyedUnarchiver {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.outputFormat = format
    try encode(archiver)
    return try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
  func `items 4 to 7 and 20: values of every kind come back with their type`(
    format: PropertyListSerialization.PropertyListFormat
  ) throws {
    var values = UserDefaultsPreferencesTests.values
    (values["$dollar"], values["$$url"], values["control"], values["a b.é🦊"]) = (1, 2, "a\0\u{1B}", 3)
    let coder = try decoder(format) { coder in try coder.encodePreferences { try $0.set(values) } }
    try coder.decodePreferences(listing: ["never", "one", "", "real", "one"]) { reader throws in
      for (key, value) in values {
        #expect(try reader.value(forKey: key)?.isIdentical(to: value) == true, "\(key)")
      }
      #expect(try reader.value(forKey: "never") == nil)
      #expect(try reader.keys() == ["one", "real"])
      for key in ["", "a\0"] {
        #expect(preferencesError { _ = try reader.value(forKey: key) }?.code == .invalidKey)
      }
    }
    try coder.decodePreferences { reader throws in #expect(try reader.keys() == []) }
  }

  @Test func `item 6: NaN comes back as NaN`() throws {
    let coder = try decoder { try $0.encodePreferences { try $0.set(Double.nan, forKey: "k") } }
    #expect(try coder.decodePreferences { try $0.double(forKey: "k")?.isNaN } == true)
  }

  @Test func `item 20: objects inside each other keep their own, beside what they encode otherwise`() throws {
    let window = CodedWindow("outer", [1, 2.5], CodedWindow("inner", [], nil))
    let data = try NSKeyedArchiver.archivedData(withRootObject: window, requiringSecureCoding: true)
    let again = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CodedWindow.self, from: data))
    #expect((again.title, again.child?.title) == ("outer", "inner"))
    #expect(again.frame == [1, 2.5])
    #expect(again.child?.frame == [])
    #expect(again.child?.child == nil)
  }

  @Test func `items 8 and 9: what was removed is not encoded, and a value that cannot be keeps out all`() throws {
    let coder = try decoder { coder in
      try coder.encodePreferences { store in
        try store.set(["a": 1, "b": 2])
        try store.removeValue(forKey: "a")
      }
      let error = preferencesError {
        try coder.encodePreferences { store in
          try store.set(1, forKey: "c")
          try store.set(.date(Date(timeIntervalSinceReferenceDate: .nan)), forKey: "d")
        }
      }
      #expect(error?.code == .unsupportedByFormat)
      #expect(error?.message.contains("key \"d\"") == true)
      struct Mine: Error {}
      #expect(throws: Mine.self) {
        try coder.encodePreferences { store in
          try store.set(1, forKey: "c")
          throw Mine()
        }
      }
    }
    try coder.decodePreferences(listing: ["a", "b", "c", "d"]) { reader throws in #expect(try reader.keys() == ["b"]) }
  }

  @Test func `item 20: booleans and numbers that other code has encoded are read as the kind that is requested`() throws
  {
    let coder = try decoder { coder in
      coder.encode(true, forKey: "true")
      coder.encode(false, forKey: "false")
      coder.encode(8080, forKey: "integer")
      coder.encode(Int64.min, forKey: "least")
      coder.encode(0, forKey: "zero")
      coder.encode(1.5, forKey: "double")
      coder.encode("text" as NSString, forKey: "object")
    }
    try coder.decodePreferences { reader throws in
      #expect(try (reader.bool(forKey: "true"), reader.bool(forKey: "false")) == (true, false))
      #expect(try (reader.integer(forKey: "integer"), reader.integer(forKey: "zero")) == (8080, 0))
      #expect(try reader.value(forKey: "least", as: Int64.self) == .min)
      #expect(try reader.value(forKey: "integer", as: UInt16.self) == 8080)
      #expect(try (reader.double(forKey: "double"), reader.double(forKey: "integer")) == (1.5, 8080))
      for read in [
        { _ = try reader.integer(forKey: "double") }, { _ = try reader.bool(forKey: "integer") },
        { _ = try reader.bool(forKey: "double") }, { _ = try reader.string(forKey: "integer") },
        { _ = try reader.string(forKey: "object") }, { _ = try reader.data(forKey: "zero") },
      ] as [() throws -> Void] {
        #expect(preferencesError(read)?.code == .typeMismatch)
      }
      #expect(try reader.integer(forKey: "none") == nil)
      // As `decodeBool` and `decodeInteger` do: a coder does not distinguish an object from zero.
      #expect(try (reader.bool(forKey: "object"), reader.integer(forKey: "object")) == (false, 0))
    }
    #expect(coder.error == nil)
  }

  @Test func `item 20: an archive of other code is read without a coder, each value as what it is`() throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.encode("text" as NSString, forKey: "string")
    archiver.encode(Data([1, 2]) as NSData, forKey: "data")
    archiver.encode(8080, forKey: "integer")
    let archive = try KeyedArchive(archiver.encodedData)
    let old = KeysPreferences(name: "archive", keys: { archive.keys }, value: archive.value(forKey:))
    #expect(try old.string(forKey: "string") == "text")
    #expect(try old.data(forKey: "data") == Data([1, 2]))
    #expect(try old.integer(forKey: "integer") == 8080)
    for read in [{ _ = try old.bool(forKey: "string") }, { _ = try old.integer(forKey: "data") }] as [() throws -> Void]
    {
      #expect(preferencesError(read)?.code == .typeMismatch)
    }
  }

  @Test func `item 20: what other code has encoded under a key is refused, not guessed`() throws {
    let coder = try decoder { coder in
      coder.encode(true, forKey: "bool")
      coder.encode(1, forKey: "integer")
      coder.encode("text" as NSString, forKey: "object")
      coder.encodeBytes(Array(sentinel.utf8), length: sentinel.utf8.count, forKey: "bytes")
      coder.encodeBytes([], length: 0, forKey: "no bytes")
      let other = try PropertyListFormat(.binary).bytes(of: ["other": 1], replacing: nil)
      coder.encodeBytes(other, length: other.count, forKey: "other")
    }
    try coder.decodePreferences { reader throws in
      for key in ["bool", "integer", "object"] {
        #expect(preferencesError { _ = try reader.value(forKey: key) }?.code == .typeMismatch, "\(key)")
      }
      for key in ["bytes", "no bytes", "other"] {
        let error = preferencesError { _ = try reader.value(forKey: key) }
        #expect(error?.code == .malformed, "\(key)")
        #expect(error?.description.contains(sentinel) == false)
      }
    }
    // Nothing of this has spoiled the coder.
    #expect(coder.error == nil)
    #expect(coder.decodeBool(forKey: "bool"))
  }

  @Test func `item 20: a reader that outlives its closure throws`() throws {
    let coder = try decoder { try $0.encodePreferences { try $0.set(1, forKey: "k") } }
    let kept = try coder.decodePreferences { $0 }
    #expect(preferencesError { _ = try kept.value(forKey: "k") }?.code == .unavailable)
    #expect(preferencesError { _ = try kept.keys() }?.code == .unavailable)
    #expect(kept.description == "coder")
  }

  @Test func `item 20: a coder of the wrong kind is refused, which would end the process`() throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    let unarchiver = try decoder { try $0.encodePreferences { try $0.set(1, forKey: "k") } }
    for coder in [unarchiver, PlainCoder()] {
      #expect(preferencesError { try coder.encodePreferences { try $0.set(1, forKey: "k") } }?.code == .unavailable)
    }
    for coder in [archiver, PlainCoder()] {
      #expect(preferencesError { try coder.decodePreferences { _ in } }?.code == .unavailable)
    }
  }

  @Test func `item 25: the reader may be used by many tasks while it is lent`() async throws {
    let values = UserDefaultsPreferencesTests.values
    let coder = try decoder { try $0.encodePreferences { try $0.set(values) } }
    try coder.decodePreferences(listing: values.keys.sorted()) { reader throws in
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        #expect(throws: Never.self) {
          for (key, value) in values {
            let read = try reader.value(forKey: key)
            #expect(read == value)
          }
          let keys = try reader.keys()
          #expect(keys == values.keys.sorted())
        }
      }
    }
  }
}
