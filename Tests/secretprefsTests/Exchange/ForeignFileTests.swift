import Foundation
import Testing

/// Files in the shape in which other programs write them.
struct ForeignFileTests {
  struct File: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let name: String
    let format: String
    let text: String
    let keys: [String: String]
  }

  static let files = [
    File(
      testDescription: "Chrome", name: "Chrome Passwords.csv", format: "csv",
      text: """
        name,url,username,password,note
        shop.example,https://shop.example/login,me@shop.example,"a,b""c",
        ,https://u@wiki.example:8443/x?y,,pass word,"two
        lines"
        shop.example,https://shop.example/,other,x,
        """,
      keys: [
        "shop.example/url": "https://shop.example/login", "shop.example/username": "me@shop.example",
        "shop.example/password": "a,b\"c", "wiki.example:8443/url": "https://u@wiki.example:8443/x?y",
        "wiki.example:8443/password": "pass word", "wiki.example:8443/notes": "two\nlines",
        "shop.example (2)/url": "https://shop.example/", "shop.example (2)/username": "other",
        "shop.example (2)/password": "x",
      ]),
    File(
      testDescription: "Firefox", name: "logins.csv", format: "csv",
      text: "\"url\",\"username\",\"password\",\"httpRealm\",\"formActionOrigin\",\"guid\",\"timeCreated\","
        + "\"timeLastUsed\",\"timePasswordChanged\"\r\n\"https://a.example\",\"u\",\"p\"\"\",,\"https://a.example\","
        + "\"{1}\",\"1\",\"1\",\"1\"\r\n",
      keys: ["a.example/url": "https://a.example", "a.example/username": "u", "a.example/password": "p\""]),
    File(
      testDescription: "KeePassXC", name: "k.csv", format: "csv",
      text: """
        "Group","Title","Username","Password","URL","Notes","TOTP","Icon","Last Modified","Created"
        "Passwords","mail","me","s\\t","","","otpauth://totp/x?secret=A","0","2026-01-01T00:00:00Z","2026-01-01T00:00:00Z"
        "Passwords/db/prod","mail","","p","","","","0","2026-01-01T00:00:00Z","2026-01-01T00:00:00Z"

        """,
      keys: [
        "mail/username": "me", "mail/password": "s\\t", "mail/totp": "otpauth://totp/x?secret=A",
        "db/prod/mail/password": "p",
      ]),
    File(
      testDescription: "1Password", name: "1p.csv", format: "csv",
      text: "Title,Url,Username,Password,OTPAuth,Favorite,Archived,Tags,Notes\nA,https://a,u,p,,false,false,x;y,n\n",
      keys: ["A/url": "https://a", "A/username": "u", "A/password": "p", "A/notes": "n", "A/Tags": "x;y"]),
    File(
      testDescription: "a table with a column of each name", name: "own.csv", format: "csv",
      text: "name,value,Group,password,username\nA,recovery,Work,p,u\nA,other,Home/x,q,v\n",
      keys: [
        "Work/A/value": "recovery", "Work/A/password": "p", "Work/A/username": "u", "Home/x/A/value": "other",
        "Home/x/A/password": "q", "Home/x/A/username": "v",
      ]),
    File(
      testDescription: "keys and values", name: "t.csv", format: "csv", text: "\u{FEFF}Key,Value\nA,1\n\nB,\n",
      keys: ["A": "1", "B": ""]),
    File(
      testDescription: "dotenv", name: ".env.production", format: "dotenv",
      text: "# c\nexport A=1\nB='x y' # c\nC=\"a\\nb\"\nA=2\n", keys: ["A": "2", "B": "x y", "C": "a\nb"]),
    File(
      testDescription: "JSON", name: "s.json", format: "json",
      text: #"{"a":{"b":"x\u00e9\ud83e\udd8a\/","\u0063":{}},"d.e":"","l":["y\n",{"\u0062":1}],"z":null}"#,
      keys: ["a.b": "xé🦊/", "d.e": "", "l": #"["y\n",{"\u0062":1}]"#]),
    File(
      testDescription: "netrc", name: ".netrc", format: "netrc",
      text: """
        # hosts
        machine a.example login me password #1
        machine b.example
          login "b c"
          password "d\\"e\\\\"
          account f
        macdef init
        cd /pub

        default login anonymous password me@a.example
        """,
      keys: [
        "a.example/username": "me", "a.example/password": "#1", "b.example/username": "b c",
        "b.example/password": "d\"e\\", "b.example/account": "f", "default/username": "anonymous",
        "default/password": "me@a.example",
      ]),
    File(
      testDescription: "git", name: ".git-credentials", format: "git-credentials",
      text:
        "https://me%40x:p%3a%2f%25@git.example\nhttp://u:t@git.example:8080/a%20b\nhttp://u:x@git.example%3a8080/a b\n"
        + "cert://:pass@/home/me/key.pem\n",
      keys: ["https://me%40x@git.example": "p:/%", "http://u@git.example:8080/a%20b": "t"]),
    File(
      testDescription: "docker", name: "config.json", format: "docker",
      text: """
        {
        	"auths": {
        		"https://index.docker.io/v1/": { "auth": "bWU6cDpz" },
        		"r.example:5000": { "auth": "bWU6", "identitytoken": "tok" },
        		"stored.example": {}
        	},
        	"credsStore": "pass"
        }
        """,
      keys: [
        "https://index.docker.io/v1/": "p:s", "r.example:5000": "tok",
      ]),
    File(
      testDescription: "Bitwarden", name: "bitwarden_export.json", format: "bitwarden",
      text: """
        {"encrypted": false, "folders": [{"id": "f1", "name": "Work/DB"}], "items": [
          {"passwordHistory": [{"lastUsedDate": "2026", "password": "old"}], "id": "1", "folderId": "f1", "type": 1,
           "name": "prod", "notes": "n", "favorite": false,
           "fields": [{"name": "PIN", "value": "0123", "type": 1, "linkedId": null}],
           "login": {"fido2Credentials": [], "uris": [{"match": null, "uri": "https://a"}, {"uri": "https://b"}],
                     "username": "u", "password": "p", "totp": null}, "collectionIds": null},
          {"id": "2", "folderId": null, "type": 5, "name": "key", "notes": null,
           "sshKey": {"privateKey": "PRIVATE", "publicKey": "PUBLIC", "keyFingerprint": "F"}}
        ]}
        """,
      keys: [
        "Work/DB/prod/notes": "n", "Work/DB/prod/url": "https://a", "Work/DB/prod/url (2)": "https://b",
        "Work/DB/prod/username": "u", "Work/DB/prod/password": "p", "Work/DB/prod/PIN": "0123",
        "key/privateKey": "PRIVATE", "key/publicKey": "PUBLIC", "key/keyFingerprint": "F",
      ]),
    File(
      testDescription: "KeePass", name: "k.xml", format: "keepass",
      text: """
        \u{FEFF}<?xml version='1.0'?><!-- a > b --><KeePassFile><Meta><RecycleBinUUID/></Meta><Root><Group><UUID/><Name>Root</Name><Group>
          <UUID>AA==</UUID><Name>R&amp;D</Name><Group><Name/><Entry><Times><Expires>False</Expires></Times>
            <String><Key>Title</Key><Value>a</Value></String><String><Key>PIN</Key><Value Note="/>">0&#49;&#x1F98A;</Value></String>
            <String><Key>otp</Key><Value ><![CDATA[<&amp;]]]]><!-- x -->\r\n&apos;</Value></String>
            <String><Key>URL</Key><Value
            /></String></Entry></Group></Group></Group></Root></KeePassFile>

        """,
      keys: ["R&D/a/PIN": "01🦊", "R&D/a/totp": "<&amp;]]\n'"]),
  ]

  @Test(arguments: files) func `a file is recognised by its name and imported whole`(_ file: File) throws {
    let scene = try ExchangeScene()
    try scene.home.write(file.text, to: file.name)
    let outcome = try scene.shell("secretprefs import '\(file.name)' --service a --json")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text.contains(#""format":"\#(file.format)","imported":\#(file.keys.count),"#))
    #expect(try scene.texts(service: "a") == file.keys)

    // From standard input, with the format named.
    let piped = try scene.shell("secretprefs import - --format \(file.format) --service b < '\(file.name)'")
    #expect(piped.exit == 0, "\(piped.errorText)")
    #expect(try scene.texts(service: "b") == file.keys)
  }

  @Test(arguments: [
    ("Aegis", #"{"version":1,"header":{"slots":[{"type":1}],"params":{"nonce":"n","tag":"t"}},"db":"QQ=="}"#),
    ("Aegis", #"{"version":1,"header":{"slots":null,"params":null},"db":{"version":3,"entries":[]}}"#),
    ("Enpass", #"{"folders":[],"items":[{"uuid":"u","title":"Bank","fields":[{"label":"P","value":"p"}]}]}"#),
    ("1Password", #"{"accounts":[{"attrs":{"name":"n"},"vaults":[{"items":[]}]}]}"#),
    ("Proton Pass", #"{"version":"1","userId":"u","vaults":{"x":{"name":"n","items":[]}}}"#),
    ("Bitwarden", #"{"items":[{"name":"n","login":{"password":"p"}}]}"#),
  ])
  func `an export that is not read is refused by its name`(_ program: String, _ text: String) throws {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: "e.json")
    let outcome = try scene.shell("secretprefs import e.json")
    #expect(outcome.exit == 64, "\(outcome.text)")
    #expect(outcome.errorText.contains("an export of \(program)"), "\(outcome.errorText)")
    // Who says that it is settings gets settings.
    #expect(try scene.shell("secretprefs import e.json --format json").exit == 0)
  }

  @Test func `settings that have a name of such an export are settings`() throws {
    let scene = try ExchangeScene()
    try scene.home.write(#"{"version":1,"db":"x","items":["a"],"folders":1,"accounts":[{"id":1}]}"#, to: "s.json")
    #expect(try scene.shell("secretprefs import s.json").exit == 0)
  }

  /// The files that `Scripts/exports` made.
  @Test(arguments: ["xml", "csv"]) func `an export of KeePassXC is imported whole`(_ format: String) throws {
    let scene = try ExchangeScene()
    let export = try #require(Bundle.module.url(forResource: "Exports/keepassxc", withExtension: format))
    try scene.home.write(try String(contentsOf: export, encoding: .utf8), to: "k.\(format)")
    let outcome = try scene.shell("secretprefs import k.\(format)")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    var expected = [
      "web/mail/username": "me & <you>", "web/mail/password": "<p&\"'ä🦊]]>\t%s ",
      "web/mail/url": "https://mail.example/?x=1&y=2", "web/mail/notes": "two\nlines\n",
      "web/a \"b\" & c/db/password": "pass word",
    ]
    if format == "csv" {
      expected["Recycle Bin/old/password"] = "thrown away"  // a CSV does not tell
    } else {
      for left in [
        "web/mail: an attachment", "web/mail: earlier versions", "empty: the entry is empty", ": the recycle bin",
      ] {
        #expect(outcome.text.contains(left), "\(outcome.text)")
      }
    }
    #expect(try scene.texts(service: "default") == expected)
  }

  @Test(.enabled(if: HelperScene.hasGit)) func `what git has stored is imported`() throws {
    let scene = try ExchangeScene()
    let stored = try scene.shell(
      """
      printf 'protocol=https\\nhost=git.example:1\\nusername=m e\\npassword=p@:/%%25\\303\\251\\n\\n' |
        git credential-store store && secretprefs import .git-credentials
      """)
    #expect(stored.exit == 0, "\(stored.errorText)")
    #expect(
      try scene.texts(service: "git") == [
        "https://m%20e@git.example:1": "p@:/%25\u{E9}"
      ])
  }
}
