import Foundation
import Testing

/// Secrets of Kubernetes: what an import takes of them, and what it names.
struct KubernetesImportTests {
  private static let config = #"{"auths":{"r.example":{"auth":"bWU6cA=="}}}"#

  private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

  private static func secret(_ members: String) -> String {
    "{\"apiVersion\":\"v1\",\n\(members),\n\"kind\":\"Secret\",\"metadata\":{\"name\":\"shop\"},\"type\":\"Opaque\"}"
  }

  private func imported(_ text: String, _ options: String = "") throws -> (keys: [String: String], Tool.Outcome) {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: "s.json")
    let outcome = try scene.shell("secretprefs import s.json \(options)")
    return (try scene.texts(service: "default"), outcome)
  }

  @Test(arguments: ["", "--format json"])
  func `the values of a Secret are decoded, and its other members are named`(_ format: String) throws {
    let (keys, outcome) = try imported(
      Self.secret(
        "\"data\":{\"A\":\"\(Self.base64("a\n"))\",\"B\":\"\",\"C\":\"eA==\","
          + "\".dockerconfigjson\":\"\(Self.base64(Self.config))\"},\n\"stringData\":{\"C\":\"eQ==\",\"D\":\"d\"}"),
      format)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(keys == ["A": "a\n", "B": "", "C": "eQ==", "D": "d", ".dockerconfigjson": Self.config])
    let left = outcome.text.split(separator: "\n").filter { $0.hasPrefix("not imported: ") }
    #expect(
      left == [
        "not imported: line 1, metadata: no value of a Secret", "not imported: line 1, type: no value of a Secret",
        "not imported: line 2, C: stringData has the same key",
      ])
  }

  @Test(arguments: ["e", "eA", "eA=", "e A=", "eA==x", "%"])
  func `base64 that Kubernetes does not read is bad`(_ text: String) throws {
    let secret = Self.secret("\"data\":{\"A\":\"YQ==\",\n\"B\":\"\(text)\"}")
    let (_, outcome) = try imported(secret)
    #expect(outcome.exit == 65)
    #expect(outcome.errorText.contains("line 3, B: a value that is not base64\n"), "\(outcome.errorText)")
    #expect(try imported(secret, "--skip B").keys == ["A": "a"])
  }

  @Test func `the Secrets of a list have their names in front of their keys`() throws {
    let secret = { (name: String, kind: String) in
      "{\"apiVersion\":\"v1\",\"kind\":\"\(kind)\",\"metadata\":{\"name\":\"\(name)\"},\"data\":{\"A\":\"YQ==\"}}"
    }
    let items = [secret("shop", "Secret"), secret("settings", "ConfigMap"), secret("web", "Secret")]
    let (keys, outcome) = try imported(
      #"{"apiVersion":"v1","items":[\#(items.joined(separator: ","))],"kind":"List","metadata":{"resourceVersion":""}}"#
    )
    #expect(keys == ["shop/A": "a", "web/A": "a"], "\(outcome.errorText)")
    #expect(outcome.text.contains("not imported: line 1, settings: no Secret\n"), "\(outcome.text)")
  }

  @Test func `other objects with a kind are settings`() throws {
    let (keys, _) = try imported(#"{"apiVersion":"v1","kind":"ConfigMap","data":{"A":"YQ=="}}"#)
    #expect(keys == ["apiVersion": "v1", "kind": "ConfigMap", "data.A": "YQ=="])
  }

  @Test(arguments: ["s.yaml", "- --format json <"])
  func `a Secret in YAML is refused by its name`(_ argument: String) throws {
    let scene = try ExchangeScene()
    try scene.store(["A": [0x61]], service: "shop")
    let file = argument == "s.yaml" ? "" : "s.yaml"
    let outcome = try scene.shell(
      "secretprefs export --service shop --format kubernetes > s.yaml; secretprefs import \(argument) \(file)")
    #expect(outcome.exit == 65)
    #expect(outcome.errorText.contains(": this is a Secret of Kubernetes in YAML, which is not read: "))
    // A value that has such a text is none.
    #expect(try scene.shell("(printf \"A='\"; cat s.yaml; echo \"'\") > .env; secretprefs import .env").exit == 0)
  }
}
