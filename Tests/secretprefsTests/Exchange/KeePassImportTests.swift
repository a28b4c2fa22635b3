import Foundation
import Testing

/// The elements of KeePass's XML beside the fields of an entry: kept, named, or book-keeping.
struct KeePassImportTests {
  private static func database(group: String = "", entry: String = "") -> String {
    """
    <KeePassFile><Root><Group><Name>r</Name><Group><Name>g</Name>\(group)
    <Entry><String><Key>Title</Key><Value>a</Value></String><String><Key>Password</Key><Value>p</Value></String>\(entry)
    </Entry></Group></Group></Root></KeePassFile>
    """
  }

  private func imported(_ text: String) throws -> (keys: [String: String], left: [String]) {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: "k.xml")
    let outcome = try scene.shell("secretprefs import k.xml")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let left = outcome.text.split(separator: "\n").filter { $0.hasPrefix("not imported: ") }
    return (try scene.texts(service: "default"), left.map { String($0.dropFirst("not imported: ".count)) })
  }

  @Test func `tags and the URL that overrides become fields`() throws {
    let (keys, left) = try imported(
      Self.database(entry: "<Tags>x;y</Tags><OverrideURL>cmd://firefox</OverrideURL>"))
    #expect(keys == ["g/a/password": "p", "g/a/tags": "x;y", "g/a/override-url": "cmd://firefox"])
    #expect(left.isEmpty)
    let (kept, replaced) = try imported(Self.database(entry: "<OverrideURL>cmd://ssh {USERNAME}</OverrideURL>"))
    #expect(kept == ["g/a/password": "p"])
    #expect(replaced == ["line 2, g/a/override-url: KeePass replaces {USERNAME} in it by a different text"])
  }

  @Test func `what is left out of an entry without a title is named as its keys are`() throws {
    let fields = { (url: String) in
      "<Entry><String><Key>URL</Key><Value>\(url)</Value></String><String><Key>K</Key><Value>{S:x}</Value></String>"
        + "<String><Key>Password</Key><Value>p</Value></String><Binary/></Entry>"
    }
    let (keys, left) = try imported(
      "<KeePassFile><Root><Group><Name>r</Name><Group><Name>g</Name>\(fields("{USERNAME}"))\(fields("http://h/"))"
        + "</Group></Group></Root></KeePassFile>")
    #expect(keys == ["g/untitled/password": "p", "g/h/url": "http://h/", "g/h/password": "p"])
    let names = left.map { $0.split(separator: ": ")[0] }
    #expect(
      names == [
        "line 1, g/untitled", "line 1, g/untitled/url", "line 1, g/untitled/K", "line 1, g/h", "line 1, g/h/K",
      ])
  }

  @Test func `line ends are LF, also in CDATA`() throws {
    let value = "a\r\nb\rc<![CDATA[d\r\ne\rf\r]]>&#13;"
    let (keys, _) = try imported(Self.database(entry: "<String><Key>K</Key><Value>\(value)</Value></String>"))
    #expect(keys["g/a/K"] == "a\nb\ncd\ne\nf\n\r")
  }

  @Test(arguments: [
    ("<AutoType><Enabled>True</Enabled><DefaultSequence>{PASSWORD}</DefaultSequence></AutoType>", "auto-type"),
    (
      "<AutoType><Association><Window>w</Window><KeystrokeSequence>s</KeystrokeSequence></Association></AutoType>",
      "auto-type"
    ),
    (
      "<CustomData><Item><Key>K</Key><Value>v</Value></Item><Item><Key>L</Key></Item></CustomData>",
      "custom data of the entry"
    ),
    ("<New><![CDATA[x]]></New>", "the element New of the entry"), ("<New><x/> y</New>", "the element New of the entry"),
    ("<Times><Expires>True</Expires></Times>", "the expiry time"),
    ("<String><Key>K</Key><New>x</New></String>", "the element New of a field"),
  ])
  func `an element of an entry that a user has filled is named`(_ element: String, _ name: String) throws {
    let (keys, left) = try imported(Self.database(entry: element))
    #expect(keys == ["g/a/password": "p"])
    #expect(left == ["line 2, g/a: \(name)"])
  }

  @Test func `an element with a name of any length is named with its entry`() throws {
    let name = String(repeating: "n", count: 5000)
    let (keys, left) = try imported(Self.database(entry: "<\(name)><x/>y</\(name)>"))
    #expect(keys == ["g/a/password": "p"])
    #expect(left == ["line 2, g/a: the element \(name.prefix(40))… of the entry"])
  }

  @Test func `a user name or URL that is marked as protected is secret`() throws {
    let scene = try ExchangeScene()
    func fields(_ mark: String) -> String {
      ["UserName", "URL"].map { "<String><Key>\($0)</Key><Value\(mark)>x\($0)</Value></String>" }.joined()
    }
    for (service, mark) in [("p", " ProtectInMemory=\"True\""), ("q", " ProtectInMemory='True'"), ("r", "")] {
      try scene.home.write(Self.database(entry: fields(mark)), to: "k.xml")
      let outcome = try scene.shell("secretprefs import k.xml --service \(service)")
      #expect(try scene.texts(service: service)["g/a/username"] == "xUserName", "\(outcome.errorText)")
      let listed = try scene.shell("secretprefs list --service \(service) --json")
      #expect(listed.text.contains("xUserName") == mark.isEmpty, "\(listed.text)")
      #expect(listed.text.contains("xURL") == mark.isEmpty, "\(listed.text)")
    }
  }

  @Test(arguments: [
    ("<Notes>n</Notes>", "the notes of the group"), ("<Tags>t</Tags>", "the tags of the group"),
    ("<CustomData><Item><Key>K</Key></Item></CustomData>", "custom data of the group"),
    ("<DefaultAutoTypeSequence>{PASSWORD}</DefaultAutoTypeSequence>", "auto-type of the group"),
    ("<Times><Expires>True</Expires></Times>", "the expiry time of the group"),
    ("<New>x</New>", "the element New of the group"),
  ])
  func `an element of a group that a user has filled is named`(_ element: String, _ name: String) throws {
    let (keys, left) = try imported(Self.database(group: element))
    #expect(keys == ["g/a/password": "p"])
    #expect(left == ["line 1, g: \(name)"])
  }

  @Test func `what stands beside the outermost group is imported or named`() throws {
    let entry =
      "<Entry><String><Key>Title</Key><Value>b</Value></String><String><Key>Password</Key><Value>q</Value></String></Entry>"
    let others = "\(entry)<DeletedObjects><DeletedObject><UUID>AA==</UUID></DeletedObject></DeletedObjects><New>x</New>"
    let (keys, left) = try imported(Self.database().replacing("</Root>", with: others + "</Root>"))
    #expect(keys == ["g/a/password": "p", "b/password": "q"])
    #expect(left == ["line 3: the element New"])
  }

  @Test func `book-keeping and elements without text are not named`() throws {
    let times = "<Times><CreationTime>x</CreationTime><Expires>False</Expires><UsageCount>3</UsageCount></Times>"
    let (keys, left) = try imported(
      Self.database(
        group: "<UUID>AA==</UUID><Notes/><IconID>48</IconID>\(times)<IsExpanded>True</IsExpanded>"
          + "<DefaultAutoTypeSequence/><EnableAutoType>null</EnableAutoType><EnableSearching>null</EnableSearching>"
          + "<LastTopVisibleEntry>AA==</LastTopVisibleEntry><CustomData/><Tags></Tags><Notes> \n</Notes>"
          + "<PreviousParentGroup>AA==</PreviousParentGroup><CustomIconUUID>AA==</CustomIconUUID>",
        entry: "<UUID>AA==</UUID><IconID>0</IconID><ForegroundColor>#FF0000</ForegroundColor><BackgroundColor/>"
          + "<OverrideURL/><Tags/>\(times)<QualityCheck>True</QualityCheck><CustomData></CustomData><New><x y='z'/></New>"
          + "<AutoType><Enabled>False</Enabled><DataTransferObfuscation>0</DataTransferObfuscation><DefaultSequence/>"
          + "</AutoType><History/>"))
    #expect(keys == ["g/a/password": "p"])
    #expect(left.isEmpty)
  }

  @Test func `what is behind the digits in the settings of codes is named`() throws {
    let seed = "<String><Key>TOTP Seed</Key><Value>GEZDGNBVGY3TQOJQ</Value></String>"
    for (settings, isNamed) in [("60;8;http://x", true), ("60;8;", false), ("60;8", false)] {
      let (keys, left) = try imported(
        Self.database(
          entry: "\(seed)<String><Key>TOTP Settings</Key><Value>\(settings)</Value></String>"))
      #expect(keys["g/a/totp"] == "otpauth://totp/?secret=GEZDGNBVGY3TQOJQ&period=60&digits=8")
      #expect(left == (isNamed ? ["line 2, g/a: the time server and all else behind the digits in TOTP Settings"] : []))
    }
  }
}
