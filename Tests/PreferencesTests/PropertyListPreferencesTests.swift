import Foundation
import Glibc
import Preferences
import Testing

struct PropertyListPreferencesTests {
  @Test func `a binary file keeps what only a binary file can have`() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).plist").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let binary = try PropertyListFormat(.binary).bytes(of: ["k": 1], replacing: nil)
    try Data(binary).write(to: URL(fileURLWithPath: path))
    let date = Date(timeIntervalSinceReferenceDate: 0.5)
    let list = try PropertyListPreferences(at: path)
    try list.set("a\u{1}b", forKey: "text")
    try list.set(date, forKey: "date")
    let other = try PropertyListPreferences(at: path)
    #expect(try other.value(forKey: "text") == "a\u{1}b")
    #expect(try list.value(forKey: "date") == .date(date))
    #expect(try other.value(forKey: "date") == .date(date))
  }

  /// What a file of `data` reads as.
  func read(_ data: Data) throws -> PropertyListPreferences {
    var layer: PropertyListPreferences?
    try withTemporaryFolder { folder in
      try data.write(to: URL(filePath: folder + "/a.plist"))
      layer = try PropertyListPreferences(at: folder + "/a.plist")
    }
    return try #require(layer)
  }

  func code(_ data: Data) throws -> PreferencesError.Code? {
    var code: PreferencesError.Code?
    try withTemporaryFolder { folder in
      try data.write(to: URL(filePath: folder + "/a.plist"))
      let error = preferencesError { _ = try PropertyListPreferences(at: folder + "/a.plist") }
      #expect(error?.description.contains(sentinel) != true)
      code = error?.code
    }
    return code
  }

  @Test(arguments: [PropertyListFixtures.xml, PropertyListFixtures.binary])
  func `every value comes back with its type`(data: Data) throws {
    let layer = try read(data)
    for (key, value) in PropertyListFixtures.values {
      #expect(try layer.value(forKey: key) == value, "\(key)")
    }
  }

  @Test(arguments: [PropertyListDecoder.PropertyListFormat.xml, .binary])
  func `what Foundation writes comes back`(format: PropertyListDecoder.PropertyListFormat) throws {
    struct Values: Encodable {
      var yes = true
      var one = 1
      var real = 1.0
      var unsigned = UInt64.max
      var minimum = Int64.min
      var text = "<&>\"' é🦊\r\n"
      var infinity = -Double.infinity
      var data = Data((0...255).map { UInt8($0) })
      var date = Date(timeIntervalSince1970: 1_704_164_645)
      var nested = ["a": [1.0, 2.5]]
    }
    let encoder = PropertyListEncoder()
    encoder.outputFormat = format
    let values = Values()
    let layer = try read(try encoder.encode(values))
    #expect(try layer.value(forKey: "yes") == .bool(true))
    #expect(try layer.value(forKey: "one") == .integer(1))
    #expect(try layer.value(forKey: "real") == .double(1))
    #expect(try layer.value(forKey: "unsigned") == .unsignedInteger(.max))
    #expect(try layer.value(forKey: "minimum") == .integer(.min))
    #expect(try layer.value(forKey: "text") == .string(values.text))
    #expect(try layer.value(forKey: "infinity") == .double(-.infinity))
    #expect(try layer.value(forKey: "data") == .data(values.data))
    #expect(try layer.value(forKey: "date") == .date(values.date))
    #expect(try layer.value(forKey: "nested") == ["a": [1.0, 2.5]])
  }

  @Test func `a missing key is nil`() throws {
    let layer = try read(PropertyListFixtures.xml)
    for key in ["none", "server.none", "server.port.none", "none.port", "server.", ".", "list.0"] {
      #expect(try layer.value(forKey: key) == nil, "\(key)")
    }
  }

  @Test func `a dotted key finds the whole name first, then leads into dictionaries`() throws {
    let xml = """
      <dict><key>a.b</key><integer>1</integer>
      <key>a</key><dict><key>b</key><integer>2</integer><key>c.d</key><integer>3</integer>
      <key>e</key><dict><key>f</key><integer>4</integer></dict></dict>
      <key>x.y</key><dict><key>z</key><integer>5</integer></dict></dict>
      """
    let layer = try read(PropertyListFixtures.document(xml))
    #expect(try layer.integer(forKey: "a.b") == 1)
    #expect(try layer.integer(forKey: "a.c.d") == 3)
    #expect(try layer.integer(forKey: "a.e.f") == 4)
    #expect(try layer.value(forKey: "a.e") == ["f": 4])
    #expect(try layer.value(forKey: "x.y.z") == nil)
    #expect(layer.keys() == ["a.b", "a.c.d", "a.e.f", "x.y"])
    for key in layer.keys() { #expect(try layer.contains(key)) }
  }

  @Test func `a string is parsed where a URL is wanted`() throws {
    let xml =
      "<dict><key>good</key><string>https://a.example/?b</string><key>bad</key><string>a b</string></dict>"
    let layer = try read(PropertyListFixtures.document(xml))
    #expect(try layer.url(forKey: "good")?.absoluteString == "https://a.example/?b")
    #expect(preferencesError { _ = try layer.url(forKey: "bad") }?.code == .typeMismatch)
    #expect(preferencesError { _ = try layer.integer(forKey: "good") }?.code == .typeMismatch)
  }

  @Test func `reloading shows the new file, and a broken file leaves the old values`() throws {
    try withTemporaryFolder { folder in
      let file = URL(filePath: folder + "/a.plist")
      let one = PropertyListFixtures.document("<dict><key>a</key><integer>1</integer></dict>")
      try one.write(to: file)
      let layer = try PropertyListPreferences(at: file.path)
      try PropertyListFixtures.document("<dict><key>a</key><integer>2</integer></dict>").write(to: file)
      #expect(try layer.integer(forKey: "a") == 1)
      try layer.reload()
      #expect(try layer.integer(forKey: "a") == 2)
      try Data("broken".utf8).write(to: file)
      #expect(preferencesError { try layer.reload() }?.code == .malformed)
      #expect(try layer.integer(forKey: "a") == 2)
    }
  }

  @Test func `files that cannot be read have different errors`() throws {
    try withTemporaryFolder { folder in
      func code(_ path: String) -> PreferencesError.Code? {
        preferencesError { _ = try PropertyListPreferences(at: path) }?.code
      }
      mkfifo(folder + "/fifo", 0o600)
      try Data().write(to: URL(filePath: folder + "/file"))
      #expect(code(folder + "/none") == .notFound)
      #expect(code(folder + "/file/none") == .notFound)
      #expect(code(folder + "/fifo") == .unreadable)
      #expect(code(folder) == .unreadable)
      #expect(code("/dev/zero") == .unreadable)
      #expect(code(folder + "/file\0") == .unreadable)
      #expect(code("") == .notFound)
      #expect(code(folder + "/file") == .malformed)
    }
  }

  @Test func `a file of more than 16 MiB is refused without being read`() throws {
    try withTemporaryFolder { folder in
      let file = folder + "/huge"
      try PropertyListFixtures.xml.write(to: URL(filePath: file))
      truncate(file, PropertyListPreferences.maximumByteCount + 1)
      let error = preferencesError { _ = try PropertyListPreferences(at: file) }
      #expect(error?.code == .limitExceeded)
    }
  }

  @Test func `an error names the file on one line`() {
    let error = preferencesError { _ = try PropertyListPreferences(at: "/none/\u{202E}a\n.plist") }
    #expect(
      error?.message.hasPrefix("property list \"/none/\\u{202E}a\\u{A}.plist\": cannot be opened (") == true)
  }

  static let malformedXML = [
    "", "<dict>", "</dict>", "<dict></array>", "<dict><key>a</key></dict>", "<dict><true/><true/></dict>",
    "<dict><key>a</key><true/><key>a</key><true/></dict>", "<array/>", "<string>\(sentinel)</string>",
    "<dict>\(sentinel)</dict>", "<dict/><dict/>", "<dict><key>a</key><null/></dict>",
    "<dict><key>a</key><string>&\(sentinel);</string></dict>",
    "<dict><key>a</key><string>&#0;</string></dict>",
    "<dict><key>a</key><string>&#xD800;</string></dict>", "<dict><key>a</key><string>&amp</string></dict>",
    "<dict><key>a</key><string><![CDATA[\(sentinel)</string></dict>",
    "<dict><key>a</key><string x=\"y\">z</string></dict>", "<dict><key>a</key><true>yes</true></dict>",
    "<dict><key>a</key><integer>\(sentinel)</integer></dict>",
    "<dict><key>a</key><integer>1.0</integer></dict>",
    "<dict><key>a</key><integer>18446744073709551616</integer></dict>",
    "<dict><key>a</key><integer>0x</integer></dict>", "<dict><key>a</key><integer>0x+1</integer></dict>",
    "<dict><key>a</key><integer>-0xFFFFFFFFFFFFFFFF</integer></dict>", "<dict><key>a</key><integer/></dict>",
    "<dict><key>a</key><real>1e999</real></dict>",
    "<dict><key>a</key><date>2024-02-30T00:00:00Z</date></dict>",
    "<dict><key>a</key><data>\(sentinel)</data></dict>", "<dict><key>a</key><string>x</key></dict>",
  ]

  @Test(arguments: malformedXML)
  func `malformed XML is refused`(body: String) throws {
    #expect(try code(PropertyListFixtures.document(body)) == .malformed)
  }

  @Test(arguments: [
    Data(), Data(sentinel.utf8), Data("{\"a\": 1}".utf8), Data("<dict/>".utf8), Data("<plist/>".utf8),
    Data("<plist><dict/>".utf8), Data("<plist><dict/></plist>x".utf8), Data([0xFF, 0xFE, 0x3C, 0x00]),
    Data("<plist><dict><key>\u{1F98A}".utf8.dropLast()),
    Data("<?xml version='1.0' encoding='ISO-8859-1'?><plist><dict/></plist>".utf8),
    Data("<?xml version='1.0' encoding='ISO-8859-1' standalone='utf-8'?><plist><dict/></plist>".utf8),
    Data("<?xml version='utf-8' encoding = \"utf-16\"?><plist><dict/></plist>".utf8),
    Data("<?xml version='1.0' encoding='utf-8?><plist><dict/></plist>".utf8),
    Data("<!DOCTYPE plist [<!ENTITY a 'aaaa'>]><plist><dict/></plist>".utf8),
  ])
  func `a file that is no property list is refused`(data: Data) throws {
    #expect(try code(data) == .malformed)
  }

  @Test(arguments: [
    "<?xml version='1.0'?>", "<?xml version=\"1.0\" encoding=\"Utf-8\" standalone='no' ?>", "<?xml\tencoding='UTF-8'?>",
    "<?xml-stylesheet encoding='x' href='a.css'?>", "<?xml version='encoding'?>",
  ])
  func `a declaration is read for its encoding alone`(declaration: String) throws {
    #expect(try read(Data("\(declaration)<plist><dict/></plist>".utf8)).keys() == [])
  }

  @Test func `a plain document with a byte order mark is enough`() throws {
    #expect(try read(Data("\u{FEFF}<plist><dict/></plist>".utf8)).keys() == [])
  }

  static let malformedBinary: [(String, Data)] = [
    ("no trailer", Data("bplist00".utf8)),
    ("other version", Data("bplist15".utf8) + PropertyListFixtures.binary.dropFirst(8)),
    ("no objects", PropertyListFixtures.binary([])),
    ("null", PropertyListFixtures.binary([[0x00]])),
    ("top is a bool", PropertyListFixtures.binary([[0x09]])),
    ("reference out of bounds", PropertyListFixtures.binary([[0xD1, 1, 2], [0x51, 0x61]])),
    ("key is not a string", PropertyListFixtures.binary([[0xD1, 1, 1], [0x09]])),
    ("repeated key", PropertyListFixtures.binary([[0xD2, 1, 1, 2, 2], [0x51, 0x61], [0x09]])),
    ("string too long", PropertyListFixtures.binary([[0xD1, 1, 1], [0x5E, 0x61]])),
    ("count too large", PropertyListFixtures.binary([[0xDF, 0x13, 127, 255, 255, 255, 255, 255, 255, 255]])),
    (
      "count beyond Int", PropertyListFixtures.binary([[0xDF, 0x13, 255, 255, 255, 255, 255, 255, 255, 255]])
    ),
    ("count is no integer", PropertyListFixtures.binary([[0xDF, 0x09]])),
    ("not ASCII", PropertyListFixtures.binary([[0xD1, 1, 1], [0x51, 0xC3]])),
    ("lone surrogate", PropertyListFixtures.binary([[0xD1, 1, 1], [0x61, 0xD8, 0x00]])),
    ("keyed archive reference", PropertyListFixtures.binary([[0xD1, 1, 2], [0x51, 0x61], [0x80, 1]])),
    (
      "integer of 16 bytes beyond 64 bits",
      PropertyListFixtures.binary([
        [0xD1, 1, 2], [0x51, 0x61], [0x14, 1] + [UInt8](repeating: 0, count: 15),
      ])
    ),
    (
      "date that is not a number",
      PropertyListFixtures.binary([[0xD1, 1, 2], [0x51, 0x61], [0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]])
    ),
  ]

  @Test(arguments: malformedBinary)
  func `a malformed binary file is refused`(name: String, data: Data) throws {
    #expect(try code(data) == .malformed, "\(name)")
  }

  @Test func `a binary integer of 16 bytes may be negative`() throws {
    let minusOne: [UInt8] = [0x14] + [UInt8](repeating: 0xFF, count: 16)
    let layer = try read(PropertyListFixtures.binary([[0xD1, 1, 2], [0x51, 0x61], minusOne]))
    #expect(try layer.value(forKey: "a") == -1)
  }

  @Test func `a binary float of 4 bytes is a double`() throws {
    let layer = try read(
      PropertyListFixtures.binary([[0xD1, 1, 2], [0x51, 0x61], [0x22, 0x3F, 0xC0, 0, 0]]))
    #expect(try layer.value(forKey: "a") == 1.5)
  }

  @Test func `no truncation or flipped byte of a binary file brings the process down`() throws {
    let bytes = Array(PropertyListFixtures.binary)
    for index in bytes.indices {
      #expect(preferencesError { _ = try PropertyListFormat().values(from: Array(bytes[..<index])) } != nil)
      for mask in [0x01, 0x80, 0xFF] as [UInt8] {
        var flipped = bytes
        flipped[index] ^= mask
        _ = preferencesError { _ = try PropertyListFormat().values(from: flipped) }
      }
    }
  }

  @Test func `nesting is bounded in both formats`() throws {
    func nested(_ depth: Int) -> Data {
      let open = String(repeating: "<array>", count: depth)
      let close = String(repeating: "</array>", count: depth)
      return PropertyListFixtures.document("<dict><key>a</key>\(open)\(close)</dict>")
    }
    #expect(try code(nested(128)) == nil)
    #expect(try code(nested(129)) == .limitExceeded)
    #expect(try code(nested(1_000_000)) == .limitExceeded)
    let selfReferring = PropertyListFixtures.binary([[0xD1, 1, 0], [0x51, 0x61]])
    #expect(try code(selfReferring) == .limitExceeded)
  }

  @Test func `a small binary file cannot unfold into a huge one`() throws {
    // Eight arrays, each of sixteen times the next one: four thousand million booleans in some 200 bytes.
    let arrays = (2..<10).map { index -> [UInt8] in
      [0xAF, 0x10, 16] + [UInt8](repeating: UInt8(index + 1), count: 16)
    }
    let objects: [[UInt8]] = [[0xD1, 1, 2], [0x51, 0x61]] + arrays + [[0x09]]
    #expect(try code(PropertyListFixtures.binary(objects)) == .limitExceeded)
    let shallow: [[UInt8]] =
      [[0xD1, 1, 2], [0x51, 0x61]] + arrays.suffix(1).map { $0.map { $0 == 10 ? 3 : $0 } } + [[0x09]]
    #expect(
      try read(PropertyListFixtures.binary(shallow)).value(forKey: "a")
        == .array(Array(repeating: true, count: 16)))
  }

  @Test func `neither description nor dump shows a value`() throws {
    let xml = "<dict><key>a</key><string>\(sentinel)</string></dict>"
    let layer = try read(PropertyListFixtures.document(xml))
    #expect(layer.description == "property list \(layer.path)")
    #expect(!dumped(layer).contains(sentinel))
  }

  @Test(arguments: [PropertyListFormat.Encoding.xml, .binary])
  func `item 15: both encodings are written, and Foundation reads them`(encoding: PropertyListFormat.Encoding) throws {
    struct Values: Codable, Equatable {
      var text = "<&>\"' é🦊\r\n"
      var number = Int64.min
      var above = UInt64.max
      var real = 1.0
      var flag = true
      var data = Data((0...255).map { UInt8($0) })
      var date = Date(timeIntervalSince1970: 1_704_164_645)
      var nested = ["a": [1.5]]
      var many = (0..<300).map { "item \($0)" }
    }
    let values = Values()
    let bytes = try PropertyListFormat(encoding).bytes(
      of: [
        "text": .string(values.text), "number": .integer(.min), "above": .unsignedInteger(.max), "real": 1.0,
        "flag": true,
        "data": .data(values.data), "date": .date(values.date), "nested": ["a": [1.5]],
        "many": values.many.preferenceValue,
      ], replacing: nil)
    var format = PropertyListDecoder.PropertyListFormat.openStep
    #expect(try PropertyListDecoder().decode(Values.self, from: Data(bytes), format: &format) == values)
    #expect(format == (encoding == .xml ? .xml : .binary))
  }

  @Test(arguments: [PropertyListFixtures.xml, PropertyListFixtures.binary])
  func `item 15: a file keeps its encoding, and every value that was in it`(data: Data) throws {
    try withTemporaryFolder { folder in
      let file = URL(filePath: folder + "/a.plist")
      try data.write(to: file)
      try PropertyListPreferences(at: file.path).set("new", forKey: "added")
      #expect(try Data(contentsOf: file).starts(with: Data("bplist".utf8)) == data.starts(with: Data("bplist".utf8)))
      let again = try PropertyListPreferences(at: file.path)
      for (key, value) in PropertyListFixtures.values {
        #expect(try again.value(forKey: key) == value, "\(key)")
      }
      #expect(try again.string(forKey: "added") == "new")
    }
  }

  @Test(arguments: [
    "0001-01-01T00:00:00Z", "1582-10-15T12:00:00Z", "1600-02-29T00:00:01Z", "1900-03-01T00:00:00Z",
    "1999-12-31T23:59:59Z", "2000-02-29T23:59:59Z", "2001-01-01T00:00:00Z", "2100-02-28T00:00:00Z",
    "9999-12-31T23:59:59Z",
  ])
  func `item 15: a date is written as it is read`(text: String) throws {
    let document = PropertyListFixtures.document("<dict><key>a</key><date>\(text)</date></dict>")
    let values = try PropertyListFormat().values(from: Array(document))
    let written = String(decoding: try PropertyListFormat().bytes(of: values, replacing: nil), as: UTF8.self)
    #expect(written.contains("<date>\(text)</date>"))
  }

  @Test(arguments: [
    ("0000-12-30T00:00:00Z", Date.distantPast.timeIntervalSinceReferenceDate),
    ("0000-01-01T00:00:00Z", -63_145_526_400),
    ("0000-02-29T00:00:00Z", -63_140_428_800), ("-002-04-10T12:26:40Z", -63_200_000_000),
    ("-314887-08-14T06:13:20Z", -1e13), ("10000-01-01T00:00:00Z", 252_423_993_600), ("318888-05-20T17:46:40Z", 1e13),
  ])
  func `item 15: a date of any year is read as Foundation writes it`(text: String, seconds: Double) throws {
    let document = PropertyListFixtures.document("<dict><key>a</key><date>\(text)</date></dict>")
    let values = try PropertyListFormat().values(from: Array(document))
    #expect(values == ["a": .date(Date(timeIntervalSinceReferenceDate: seconds))])
    let written = try PropertyListFormat(.xml).bytes(of: values, replacing: nil)
    #expect(try PropertyListFormat().values(from: written) == values)
  }

  @Test(arguments: [
    "00-01-01T00:00:00Z", "--02-01-01T00:00:00Z", "+2001-01-01T00:00:00Z", "12345678901-01-01T00:00:00Z",
    "-001-02-29T00:00:00Z", "2030437302-06-07T24:60:-2147483648Z",
  ])
  func `item 15: a date that names no day is refused`(text: String) throws {
    #expect(try code(PropertyListFixtures.document("<dict><key>a</key><date>\(text)</date></dict>")) == .malformed)
  }

  @Test func `item 15: every day is written as it is read`() throws {
    // A step that meets every day of the month, and the leap years of four centuries.
    for day in stride(from: -800_000, to: 2_900_000, by: 1_009) {
      let date = Date(timeIntervalSinceReferenceDate: Double(day) * 86_400)
      guard date >= Date(timeIntervalSinceReferenceDate: -63_113_904_000) else { continue }
      let bytes = try PropertyListFormat(.xml).bytes(of: ["d": .date(date)], replacing: nil)
      #expect(try PropertyListFormat().values(from: bytes) == ["d": .date(date)])
    }
  }
}
