import Preferences
import Testing

struct ExplanationTests {
  let environment = EnvironmentPreferences(prefix: "SHOP", environment: ["SHOP_SERVER_PORT": sentinel])
  let file = FixedPreferences(name: "property list shop.plist", content: ["server.port": 1])
  let defaults = DictionaryPreferences(["server.port": 8080, "token": .string(sentinel)])

  @Test func `an explanation shows which layer answers and which it hides`() throws {
    let vault = FixedPreferences(name: "vault com.example.shop/default")
    let explanation = try CompositePreferences([vault, environment, file, defaults]).explain("server.port")
    #expect(
      explanation.description == """
        server.port
          1  vault com.example.shop/default   absent
          2  environment SHOP_*               answers (string)
          3  property list shop.plist         hidden (integer)
          4  dictionary                       hidden (integer)
        """)
    #expect(explanation.key == "server.port")
    #expect(explanation.layers.map(\.name) == [vault.name, environment.name, file.name, "dictionary"])
    guard case .hidden(.integer) = explanation.layers[2].answer else {
      Issue.record("the third layer is hidden")
      return
    }
  }

  @Test func `below a failure no layer is queried`() throws {
    let explanation = try CompositePreferences([file, FailingPreferences(custody: .plain), defaults]).explain("token")
    #expect(
      explanation.description == """
        token
          1  property list shop.plist         absent
          2  vault com.example.shop/default   fails (Locked)
          3  dictionary                       not asked
        """)
    guard case .failed(let error) = explanation.layers[1].answer else {
      Issue.record("the second layer fails")
      return
    }
    #expect(error is FailingPreferences.Locked)
  }

  @Test func `layers that hold no values of the key's secrecy are not queried`() throws {
    let vault = FailingPreferences(name: "vault").claiming(.names(["token"]))
    let explanation = try CompositePreferences([defaults, vault]).explain("token")
    #expect(
      explanation.description == """
        token
          1  dictionary   not asked
          2  vault        fails (Locked)
        """)
    #expect(
      try CompositePreferences([vault, defaults]).explain("server.port").description == """
        server.port
          1  vault        not asked
          2  dictionary   answers (integer)
        """)
  }

  @Test func `a failure below the answer is shown too`() throws {
    let locked = FailingPreferences(
      name: "vault", custody: .plain, error: PreferencesError(.unavailable, "it is locked"))
    let explanation = try CompositePreferences([defaults, locked]).explain("token")
    #expect(
      explanation.description == """
        token
          1  dictionary   answers (string)
          2  vault        fails (unavailable: it is locked)
        """)
  }

  @Test func `ranks line up beyond nine layers`() throws {
    let layers = Array(repeating: FixedPreferences(), count: 10)
    let lines = try CompositePreferences(layers).explain("a").description.split(separator: "\n")
    #expect(lines[1] == "   1  fixed   absent")
    #expect(lines[10] == "  10  fixed   absent")
  }

  @Test func `names and keys cannot break or reorder lines`() throws {
    let layer = FixedPreferences(name: "a\n  1  b\u{202E}c\u{1B}[2J")
    #expect(
      try CompositePreferences([layer]).explain("k\u{2066}\u{2028}").description == """
        k\\u{2066}\\u{2028}
          1  a\\u{A}  1  b\\u{202E}c\\u{1B}[2J   absent
        """)
  }

  @Test func `no explanation shows a value`() throws {
    for key in ["server.port", "token"] {
      for layers in [[environment, defaults], [defaults, FailingPreferences(custody: .plain)]]
        as [[any PreferencesReader]]
      {
        let explanation = try CompositePreferences(layers).explain(key)
        #expect(!explanation.description.contains(sentinel))
      }
    }
  }
}
