import Foundation
import Testing

/// The settings and states of Bitwarden's items.
struct BitwardenImportTests {
  private func imported(_ items: String) throws -> (keys: [String: String], report: String) {
    let scene = try ExchangeScene()
    try scene.home.write("{\"encrypted\":false,\"items\":[\(items)]}", to: "b.json")
    let outcome = try scene.shell("secretprefs import b.json")
    return (try scene.texts(service: "default"), outcome.text + outcome.errorText)
  }

  @Test(arguments: [
    (#""favorite":true"#, "the mark as a favourite"), (#""reprompt":1"#, "the question for the master password"),
    (#""archivedDate":"2026-01-01T00:00:00Z""#, "the mark as archived"),
    (#""favorite":false,"reprompt":0,"archivedDate":null,"deletedDate":null"#, nil),
  ])
  func `what a user has set about an item is named`(_ member: String, _ name: String?) throws {
    let (keys, report) = try imported(#"{"name":"a",\#(member),"login":{"password":"p"}}"#)
    #expect(keys == ["a/password": "p"])
    #expect(report.contains("not imported") == (name != nil), "\(report)")
    if let name { #expect(report.contains("not imported: line 1, a: \(name)\n"), "\(report)") }
  }

  @Test func `how URLs are matched is named once, and a member that is not known is a field`() throws {
    let (keys, report) = try imported(
      #"{"name":"a","login":{"uris":[{"uri":"u","match":3,"uriChecksum":"c"},{"match":0,"uri":"v","new":"n"}]}}"#)
    #expect(keys == ["a/url": "u", "a/url (2)": "v", "a/url.new": "n"])
    #expect(report.matches(of: /not imported/).count == 1 && report.contains("a: how a URL is matched"), "\(report)")
  }

  @Test func `an item in the trash is left out and named`() throws {
    let (keys, report) = try imported(
      #"{"name":"a","deletedDate":"2026-01-01T00:00:00Z","favorite":true,"login":{"password":"p"}},"#
        + #"{"name":"b","login":{"password":"q"}}"#)
    #expect(keys == ["b/password": "q"])
    #expect(
      report.matches(of: /not imported/).count == 1 && report.contains("line 1, a: an item in the trash"), "\(report)")
  }

  @Test func `each element that is no item is named`() throws {
    let (keys, report) = try imported(#"1,{"name":"a","login":{"password":"p"}},"x",null"#)
    #expect(keys == ["a/password": "p"])
    #expect(report.contains("not imported: line 1, items.0: no item\n"), "\(report)")
    #expect(report.contains("not imported: line 1, items.2: no item\n"), "\(report)")
    #expect(report.matches(of: /not imported/).count == 2, "\(report)")
  }

  @Test func `a folder without a name is no part of a key, and collections that are no list are named`() throws {
    let scene = try ExchangeScene()
    try scene.home.write(
      #"{"encrypted":false,"folders":[{"id":"f","name":null}],"items":["#
        + #"{"name":"a","folderId":"f","collectionIds":"c1","login":{"password":"p"}}]}"#, to: "b.json")
    let outcome = try scene.shell("secretprefs import b.json")
    #expect(try scene.texts(service: "default") == ["a/password": "p"], "\(outcome.errorText)")
    #expect(outcome.text.contains("not imported: line 1, a: collectionIds, which is no list\n"), "\(outcome.text)")
  }

  @Test func `a field without a name is called field`() throws {
    let (keys, _) = try imported(
      #"{"name":"a","fields":[{"name":"","value":"x"},{"name":null,"value":"y"},{"value":"z"}],"login":{"":"w"}}"#)
    #expect(keys == ["a/field": "w", "a/field (2)": "x", "a/field (3)": "y", "a/field (4)": "z"])
  }
}
