#if SettingsPage
  import AsyncHTTPClient
  import Foundation
  import InMemoryLogging
  import Logging
  import NIOCore
  import NIOHTTP1
  import PreferencesSettings
  import Preferences
  import Secrets
  import ServiceLifecycle
  import SettingsPage
  import Testing

  enum Colour: String, CaseIterable, PreferenceConvertible { case red, green }

  extension PreferenceKey<Bool> {
    static var isOpen: Self { .init("shop.open", default: false) }
  }
  extension PreferenceKey<Int> {
    static var timeout: Self { .init("timeout", default: 30) }
    static var volume: Self { .init("volume", default: 50) }
  }
  extension PreferenceKey<Colour> {
    static var colour: Self { .init("colour", default: .red) }
  }
  extension PreferenceKey<String> {
    static var greeting: Self { .init("greeting", default: "Welcome") }
  }
  extension PreferenceKey<Secret<String>?> {
    static var password: Self { .init("smtp.password") }
  }

  /// The value of a secret, found in no answer and no line of a log.
  let secretText = "SENTINEL-5f3a"

  /// One setting of each control without a secret.
  func plainSettings(in store: any PreferencesStore) throws -> [any AnySetting] {
    [
      Setting(.isOpen, in: store, title: "Open"),
      try Setting(.timeout, in: store, title: "Timeout", bounds: 1...60, step: 20, format: { "\($0) s" }),
      try Setting(.volume, in: store, title: "Volume", bounds: 0...100, isSlider: true),
      Setting(.colour, in: store, title: "Colour"),
      Setting(.greeting, in: store, title: "Greeting", info: "What visitors read", rules: [.notBlank]),
    ]
  }

  /// A browser without a window: it keeps the cookie, as its page keeps the token of its forms.
  struct Browser {
    struct Answer {
      let status: UInt
      let headers: HTTPHeaders
      let text: String
    }

    let page: SettingsPageService
    /// Lines of the server.
    let log: InMemoryLogHandler
    let origin: String
    let port: Int
    let path: String
    var cookie = ""
    var formToken = ""

    init(_ page: SettingsPageService, _ log: InMemoryLogHandler, opening url: String) async throws {
      self.page = page
      self.log = log
      let parts = try #require(URLComponents(string: url))
      port = parts.port ?? 0
      origin = "http://\(parts.host ?? ""):\(port)"
      path = parts.path
      let link = url.components(separatedBy: "/").last ?? ""
      let setCookie = try #require(try await get(link).headers.first(name: "Set-Cookie"))
      cookie = setCookie.components(separatedBy: ";")[0]
      let html = try await get("").text
      formToken = String(try #require(html.firstMatch(of: /name="token" value="([0-9a-f]+)"/)).1)
    }

    /// The part of a fresh link that follows the path.
    var link: String { page.url?.components(separatedBy: "/").last ?? "" }

    /// Sends a request with the cookie; `headers` replace those of a browser.
    func send(_ method: HTTPMethod, _ file: String, _ headers: HTTPHeaders = [:], body: String? = nil) async throws
      -> HTTPClientResponse
    {
      var request = HTTPClientRequest(url: origin + path + file)
      request.method = method
      request.headers = ["Cookie": cookie]
      if let body {
        request.body = .bytes(ByteBuffer(string: body))
        request.headers.add(contentsOf: ["Origin": origin, "Accept": "application/json"])
      }
      for (name, _) in headers { request.headers.remove(name: name) }
      request.headers.add(
        contentsOf: headers.filter { !$0.value.isEmpty }.reduce(into: [:]) { $0.add(name: $1.name, value: $1.value) })
      return try await HTTPClient.shared.execute(request, timeout: .minutes(10))
    }

    func answer(_ response: HTTPClientResponse) async throws -> Answer {
      Answer(
        status: response.status.code, headers: response.headers,
        text: String(buffer: try await response.body.collect(upTo: 1 << 20)))
    }

    func get(_ file: String, _ headers: HTTPHeaders = [:]) async throws -> Answer {
      try await answer(try await send(.GET, file, headers))
    }

    /// Sends the form of a setting.
    func change(
      _ id: Int, _ fields: KeyValuePairs<String, String>, token: String? = nil, _ headers: HTTPHeaders = [:]
    ) async throws -> Answer {
      var form = URLComponents()
      form.queryItems = [URLQueryItem(name: "token", value: token ?? formToken)]
      form.queryItems? += fields.map { URLQueryItem(name: $0.key, value: $0.value) }
      let body = form.percentEncodedQuery?.replacingOccurrences(of: "+", with: "%2B") ?? ""
      return try await answer(try await send(.POST, "change/\(id)", headers, body: body))
    }

    /// The states that the server sends, as JSON.
    struct Events {
      fileprivate let lines: AsyncStream<String>

      /// The next state; nil at the end.
      func next() async -> String? {
        for await line in lines { return line }
        return nil
      }
    }

    /// Receives the states that the server sends while `body` runs: that of each setting first.
    func events(_ body: (Events) async throws -> Void) async throws {
      let response = try await send(.GET, "events")
      let (lines, continuation) = AsyncStream.makeStream(of: String.self)
      let reading = Task {
        defer { continuation.finish() }
        var text = ""
        for try await part in response.body {
          text += String(buffer: part)
          while let end = text.range(of: "\n\n") {
            if text.hasPrefix("data: ") { continuation.yield(String(text[..<end.lowerBound].dropFirst(6))) }
            text.removeSubrange(..<end.upperBound)
          }
        }
      }
      try await body(Events(lines: lines))
      reading.cancel()
      _ = await reading.result
    }
  }

  /// Serves a page of `settings` while `body` runs, and shuts it down in order.
  func withPage(
    _ settings: [any AnySetting], title: String = "Test", host: String = "127.0.0.1",
    _ body: (Browser) async throws -> Void
  ) async throws {
    var handler = InMemoryLogHandler()
    handler.logLevel = .trace
    let logger = Logger(label: "test") { [handler] _ in handler }
    let (urls, listening) = AsyncStream.makeStream(of: String.self)
    let page = try SettingsPageService([SettingGroup("General", settings)], title: title, host: host, logger: logger) {
      listening.yield($0)
    }
    let group = ServiceGroup(services: [page], logger: logger)
    try await withThrowingTaskGroup { tasks in
      tasks.addTask {
        defer { listening.finish() }
        try await group.run()
      }
      for await url in urls {
        try await body(try await Browser(page, handler, opening: url))
        await group.triggerGracefulShutdown()
        break
      }
      try await tasks.waitForAll()
    }
  }
#endif
