#if SettingsPage
  import Foundation
  import InMemoryLogging
  import NIOHTTP1
  import PreferencesSettings
  import Preferences
  import Secrets
  import SecretsTesting
  import Testing

  /// What the controls do.
  struct ChangeTests {
    private let store = DictionaryPreferences()
    /// Deleted with the suite.
    private let vault: ThrowawayVault

    init() throws { vault = try ThrowawayVault() }
  }

  extension ChangeTests {
    @Test func `each control stores what it says`() async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        for (id, text) in [(0, "true"), (1, "45"), (2, "70"), (3, "green"), (4, "Grüß + Gott & Co")] {
          #expect(try await browser.change(id, ["text": text]).status == 200)
        }
        #expect(try store.value(for: .isOpen))
        #expect(try store.value(for: .timeout) == 45)
        #expect(try store.value(for: .volume) == 70)
        #expect(try store.value(for: .colour) == .green)
        #expect(try store.value(for: .greeting) == "Grüß + Gott & Co")
      }
    }

    @Test func `a stepper stops at its bounds and says so`() async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        #expect(try await browser.change(1, ["change": "increase"]).text.contains(#""isAtMax":false"#))
        let top = try await browser.change(1, ["change": "increase"])
        #expect(top.text.contains(#""isAtMax":true"#) && top.text.contains(#""formatted":"60 s""#))
        _ = try await browser.change(1, ["change": "decrease"])
        #expect(try store.value(for: .timeout) == 40)
      }
    }

    @Test func `a step of a setting that has none is refused, and so is an unknown change`() async throws {
      try await withPage([Setting(.greeting, in: store)]) { browser async throws in
        for change in ["increase", "decrease", "nonsense"] {
          #expect(try await browser.change(0, ["change": change, "text": "a"]).status == 422)
        }
        #expect(try store.value(forKey: "greeting") == nil)
      }
    }

    @Test func `a reset removes the stored value`() async throws {
      try await store.set("Hello", for: .greeting)
      try await withPage(try plainSettings(in: store)) { browser async throws in
        let answer = try await browser.change(4, ["change": "reset"])
        #expect(answer.text.contains(#""text":"Welcome""#))
        #expect(try store.storedValue(for: .greeting) == nil)
      }
    }

    @Test func `a form without scripts asks before a reset`() async throws {
      try await store.set("Hello", for: .greeting)
      try await withPage(try plainSettings(in: store)) { browser async throws in
        let question = try await browser.change(4, ["change": "reset"], ["Accept": "text/html"])
        #expect(question.status == 200)
        #expect(question.text.contains(#"<button name="change" value="remove" id="s4-remove""#))
        #expect(!question.text.contains(#"value="remove" id="s3-remove""#))
        #expect(try store.storedValue(for: .greeting) == "Hello")
        _ = try await browser.change(4, ["change": "remove"], ["Accept": "text/html"])
        #expect(try store.storedValue(for: .greeting) == nil)
      }
    }

    @Test(arguments: [(1, "61", "Timeout must be between 1 and 60."), (4, " ", "Greeting must not be blank.")])
    func `a text that breaks a rule is not stored, and the message says why`(
      id: Int, text: String, message: String
    ) async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        let answer = try await browser.change(id, ["text": text])
        #expect(answer.status == 422)
        #expect(answer.text.contains(message))
        #expect(try store.storedValue(for: .greeting) == nil && store.storedValue(for: .timeout) == nil)
      }
    }

    @Test func `a change that a higher layer hides is stored, and the page names the layer`() async throws {
      let above = DictionaryPreferences(["timeout": 30], name: "environment").readOnly
      let layers = CompositePreferences([above, store])
      try await withPage(try plainSettings(in: layers)) { browser async throws in
        for fields in [["text": "45"], ["change": "increase"]] as [KeyValuePairs<String, String>] {
          let answer = try await browser.change(1, fields)
          #expect(answer.status == 422)
          #expect(answer.text.contains("Stored, but without effect: environment"))
        }
        #expect(try store.value(for: .timeout) == 50)
      }
    }

    @Test func `a text of several lines is shown and not changed, because a browser drops its breaks`() async throws {
      try await store.set("line 1\nline 2", for: .greeting)
      try await withPage(try plainSettings(in: store)) { browser async throws in
        #expect(try await browser.get("").text.contains(/value="line 1\nline 2"[^>]* readonly/))
        let answer = try await browser.change(4, ["text": "line 1line 2"], ["Accept": "text/html"])
        #expect(answer.status == 422)
        #expect(answer.text.contains("Greeting has several lines and is not changed here."))
        #expect(try store.value(for: .greeting) == "line 1\nline 2")
      }
    }

    @Test func `forms work without scripts`() async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        let stored = try await browser.change(
          4, ["text": "Hello"], ["Accept": "text/html", "Origin": "null", "Sec-Fetch-Site": "same-origin"])
        #expect(stored.status == 200 || stored.status == 303)
        #expect(try store.value(for: .greeting) == "Hello")

        let refused = try await browser.change(1, ["text": "61"], ["Accept": "text/html"])
        #expect(refused.status == 422)
        #expect(refused.text.contains(#"aria-live="polite">Timeout must be between 1 and 60.</p>"#))
        #expect(refused.text.contains(#"value="61""#))
        #expect(refused.text.contains(#"aria-invalid="true""#))
      }
    }

    @Test func `text is no markup`() async throws {
      let hostile = #"<script>alert(1)</script>"'&"#
      try await store.set(hostile, for: .greeting)
      let setting = Setting(.greeting, in: store, title: hostile, info: hostile)
      try await withPage([setting], title: hostile) { browser async throws in
        let html = try await browser.get("").text
        #expect(!html.contains("<script>"))
        #expect(html.components(separatedBy: "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;").count == 6)
      }
    }

    // MARK: Secrets

    @Test func `a secret is stored, and is in no answer and no line of the log`() async throws {
      let secrets = try vault.preferences()
      let settings: [any AnySetting] = [Setting(.password, in: secrets, title: "Password", rules: [])]
      try await withPage(settings) { browser async throws in
        #expect(try await browser.get("").text.contains(">not set</output>"))
        var answers = [try await browser.change(0, ["text": secretText]).text]
        #expect(try secrets.required(.password).withValue { $0 } == secretText)
        #expect(answers[0].contains(#""formatted":"set""#))
        answers += [
          try await browser.change(0, ["text": secretText], ["Accept": "text/html"]).text,
          try await browser.get("").text,
          try await browser.change(0, ["text": secretText], token: "wrong").text,
          try await browser.change(0, ["text": ""]).text,
          try await browser.change(0, ["change": "increase", "text": secretText]).text,
        ]
        try await browser.events { events in answers.append(try #require(await events.next())) }
        for answer in answers { #expect(!answer.contains(secretText)) }
        #expect(!browser.log.entries.isEmpty)
        for entry in browser.log.entries { #expect(!String(reflecting: entry).contains(secretText)) }
        #expect(try secrets.required(.password).withValue { $0 } == secretText)

        #expect(try await browser.change(0, ["change": "reset"]).text.contains(#""formatted":"not set""#))
        #expect(try secrets.value(for: .password) == nil)
      }
    }

    @Test func `of a hidden list the page says whether it is set`() async throws {
      let hosts = Setting(PreferenceKey("hosts", default: [String]()), in: try vault.preferences(), title: "Hosts")
      try await withPage([hosts]) { browser async throws in
        #expect(try await browser.get("").text.contains(/value="not set"[^>]* readonly/))
        try await hosts.set([secretText])
        let page = try await browser.get("").text
        #expect(page.contains(/value="set"[^>]* readonly/))
        #expect(page.contains(">Remove</button>"))
        let refused = try await browser.change(0, ["text": "a"], ["Accept": "text/html"])
        #expect(refused.status == 422)
        for text in [page, refused.text] { #expect(!text.contains(secretText) && !text.contains("redacted")) }
        #expect(refused.text.contains(/value="set"[^>]* readonly/))
      }
    }

    @Test func `a locked vault is reported beside the control, and other settings can be changed`() async throws {
      let secrets = try vault.preferences()
      try await secrets.set(Secret(secretText), for: .password)
      let settings: [any AnySetting] = [
        Setting(.password, in: secrets, title: "Password"), Setting(.isOpen, in: store, title: "Open"),
      ]
      try await withPage(settings) { browser async throws in
        vault.vault.lock()
        let page = try await browser.get("").text
        #expect(page.contains(">unknown</output>"))
        #expect(page.contains("Cannot be read: the vault is locked."))
        let refused = try await browser.change(0, ["text": "new-" + secretText])
        #expect(refused.status == 422)
        #expect(refused.text.contains("Not stored: the vault is locked."))
        #expect(!refused.text.contains(secretText))
        #expect(try await browser.change(1, ["text": "true"]).status == 200)
      }
    }

    @Test func `the text of a foreign error is not shown`() async throws {
      struct Foreign: Error, CustomStringConvertible { var description: String { secretText } }
      let failing = FailingPreferences()
      try await withPage([Setting(.greeting, in: failing, title: "Greeting")]) { browser async throws in
        failing.become(.failing(with: Foreign()))
        let answer = try await browser.change(0, ["text": "Hello"])
        #expect(answer.status == 422)
        #expect(answer.text.contains("Foreign") && !answer.text.contains(secretText))
      }
    }
  }
#endif
