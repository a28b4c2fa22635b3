import FoundationEssentials
import Preferences

/// One set of values in both formats, written by Python's plistlib and by hand.
enum PropertyListFixtures {
  static let values: [String: PreferenceValue] = [
    "yes": true, "no": false, "one": 1, "real": 1.0, "half": 1.5, "negative": -5,
    "minimum": .integer(.min), "maximum": .integer(.max), "above": .unsignedInteger(1 << 63),
    "unsigned": .unsignedInteger(.max), "i200": 200, "i70000": 70_000, "i5e9": 5_000_000_000,
    "ascii": "hello", "unicode": "héllo 🦊", "empty": "", "null": "$null",
    "data": .data(Data([1, 2, 3])), "date": .date(Date(timeIntervalSince1970: 1_704_164_645)),
    "list": [1, true, 1.0], "server": ["port": 8080, "tls": ["on": true]],
    "long": .string(String(repeating: "x", count: 300)), "many": .array(Array(repeating: 0, count: 20)),
  ]

  static let xml = document(
    """
    <dict>
      <!-- every type -->
      <key>yes</key><true/> <key>no</key><false></false> <key>one</key><integer>1</integer>
      <key>real</key><real>1</real> <key>half</key><real> 1.5 </real> <key>negative</key><integer>-5</integer>
      <key>minimum</key><integer>-9223372036854775808</integer>
      <key>maximum</key><integer>9223372036854775807</integer>
      <key>above</key><integer>9223372036854775808</integer>
      <key>unsigned</key><integer>0xFFFFFFFFFFFFFFFF</integer>
      <key>i200</key><integer>0xc8</integer> <key>i70000</key><integer>+70000</integer>
      <key>i5e9</key><integer>5000000000</integer> <key>ascii</key><string>h&#x65;l<![CDATA[lo]]></string>
      <key>unicode</key><string>h&#233;llo 🦊</string> <key>empty</key><string/>
      <key>null</key><string>$null</string> <key>data</key><data>
        AQ
        ID
      </data> <key>date</key><date>2024-01-02T03:04:05Z</date>
      <key>list</key><array><integer>1</integer><true/><real>1.0</real></array>
      <key>server</key><dict><key>port</key><integer>8080</integer>
        <key>tls</key><dict><key>on</key><true/></dict></dict>
      <key>long</key><string>\(String(repeating: "x", count: 300))</string>
      <key>many</key><array>\(String(repeating: "<integer>0</integer>", count: 20))</array>
    </dict>
    """)

  static let binary = Data(
    base64Encoded: """
      YnBsaXN0MDDfEBcBAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fICElJigpKissIiQtMzQjVWFib3ZlVWFzY2lpVGRh\
      dGFUZGF0ZVVlbXB0eVRoYWxmVGkyMDBUaTVlOVZpNzAwMDBUbGlzdFRsb25nVG1hbnlXbWF4aW11bVdtaW5pbXVtWG5lZ2F0\
      aXZlUm5vVG51bGxTb25lVHJlYWxWc2VydmVyV3VuaWNvZGVYdW5zaWduZWRTeWVzFAAAAAAAAAAAgAAAAAAAAABVaGVsbG9D\
      AQIDM0HFodpSgAAAUCM/+AAAAAAAABDIEwAAAAEqBfIAEgABEXCjIiMkEAEJIz/wAAAAAAAAXxEBLHh4eHh4eHh4eHh4eHh4\
      eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4\
      eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4\
      eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4\
      eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eK8Q\
      FCcnJycnJycnJycnJycnJycnJycnEAATf/////////8TgAAAAAAAAAAT//////////sIVSRudWxs0i4vMDFUcG9ydFN0bHMR\
      H5DRMiNSb25oAGgA6QBsAGwAbwAg2D7dihQAAAAAAAAAAP//////////AAgAOQA/AEUASgBPAFUAWgBfAGQAawBwAHUAegCC\
      AIoAkwCWAJsAnwCkAKsAswC8AMAA0QDXANsA5ADlAO4A8AD5AP4BAgEEAQUBDgI+AlUCVwJgAmkCcgJzAnkCfgKDAocCigKN\
      ApACoQAAAAAAAAIBAAAAAAAAADUAAAAAAAAAAAAAAAAAAAKy
      """)!

  static func document(_ body: String) -> Data {
    Data(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">\(body)</plist>

      """.utf8)
  }

  /// A binary property list of `objects` with one-byte offsets and references; the first is the top.
  static func binary(_ objects: [[UInt8]]) -> Data {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets.append(UInt8(bytes.count))
      bytes += object
    }
    let table = UInt8(bytes.count)
    bytes += offsets
    bytes += [0, 0, 0, 0, 0, 0, 1, 1]
    bytes += [0, 0, 0, 0, 0, 0, 0, UInt8(objects.count)]
    bytes += [0, 0, 0, 0, 0, 0, 0, 0]
    bytes += [0, 0, 0, 0, 0, 0, 0, table]
    return Data(bytes)
  }
}
