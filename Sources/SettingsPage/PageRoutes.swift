#if SettingsPage
  import DurableFiles
  import FoundationEssentials
  import HTTPTypes
  import Hummingbird
  import HummingbirdCore
  import NIOCore
  import PreferencesSettings
  import Preferences
  import ServiceLifecycle
  import Synchronization

  extension SettingsPageService {
    var settings: [any AnySetting] { groups.flatMap(\.settings) }

    /// Serves a request of the session, and refuses all others. Throws nothing: a server may log what is thrown.
    func serve(_ request: Request, _ body: (PageAccess.Session) async -> Response) async -> Response {
      guard access.isAddressed(request) else { return misdirected }
      guard let session = access.session(of: request) else { return noSession }
      return await body(session)
    }

    private var misdirected: Response {
      let own = access.authority.map { " It is \($0); a proxy must not change the field Host." } ?? ""
      return .refusal(.misdirectedRequest, "This is a different server than the address says.\(own)")
    }

    private var noSession: Response {
      .refusal(.forbidden, "This page opens with a new link, which the program that serves it provides.")
    }

    /// Returns the page. If the address has a token, starts the session and returns a step that leads to the page.
    func open(_ request: Request) async -> Response {
      guard let token = request.uri.queryParameters["token"] else {
        return await serve(request) { html(.ok, of: await states(), $0) }
      }
      guard access.isAddressed(request) else { return misdirected }
      guard request.headers[.secPurpose] == nil, let cookie = access.open(with: String(token))
      else { return .refusal(.forbidden, "The link was used before, or is wrong. It opens the page once.") }
      // Not a redirect: after a link on a different site, the browser would not send the cookie.
      var response = Response.page(.ok, "text/html; charset=utf-8", ByteBuffer(string: PageHTML.step(to: home)))
      response.setCookie(cookie)
      return response
    }

    private var home: String { access.path + "/" }

    private func html(
      _ status: HTTPResponse.Status, of states: [SettingState], _ session: PageAccess.Session, asking: Int? = nil
    ) -> Response {
      let page = PageHTML(
        title: title, groups: groups, states: states, path: access.path, formToken: session.formToken, asking: asking)
      return .page(status, "text/html; charset=utf-8", ByteBuffer(string: page.text))
    }

    // MARK: Changes

    private struct Form: Decodable {
      var token: String
      var change: String?
      var text: String?
    }

    func change(_ id: Int?, _ request: Request, _ session: PageAccess.Session) async -> Response {
      guard access.isOwn(request) else { return .refusal(.forbidden, "The request comes from a different site.") }
      guard let id, settings.indices.contains(id) else { return .refusal(.notFound, "There is no such setting.") }
      let form: Form
      do {
        guard let body = try await request.body.collect(upTo: 65_536, within: Self.requestLimit) else {
          return .refusal(.requestTimeout, "The form took too long to arrive.")
        }
        form = try URLEncodedFormDecoder().decode(Form.self, from: String(buffer: body))
      } catch is NIOTooManyBytesError {
        return .refusal(.contentTooLarge, "The text is too long.")
      } catch { return .refusal(.badRequest, "The request is not a form of this page.") }
      // It may have ended while the form arrived.
      guard access.isCurrent(session) else { return noSession }
      guard isEqual(form.token, session.formToken) else { return .refusal(.forbidden, "The page is old: reload it.") }
      let isFromScript = request.headers[.accept]?.contains("application/json") == true
      // The script has asked already.
      if form.change == "reset", !isFromScript {
        return html(.ok, of: await states(), session, asking: id)
      }
      let problem = await problem(applying: form, to: settings[id])
      if isFromScript {
        let now = await state(of: id)
        let state = problem.map(now.refusing) ?? now
        return .page(state.isRefused ? .unprocessableContent : .ok, "application/json", ByteBuffer(string: state.json))
      }
      if let problem {
        var states = await states()
        states[id] = states[id].refusing(problem)
        if let text = form.text, !settings[id].isHidden { states[id].text = text }
        return html(.unprocessableContent, of: states, session)
      }
      var response = Response.page(.seeOther, "text/plain", ByteBuffer())
      response.headers[.location] = home
      return response
    }

    /// Returns why the change was not stored, or has no effect; `nil` if all is well.
    private func problem(applying form: Form, to setting: any AnySetting) async -> String? {
      do {
        let outcome: WriteOutcome
        switch form.change ?? "set" {
        case "increase" where setting.isNumeric: outcome = try await setting.increase()
        case "decrease" where setting.isNumeric: outcome = try await setting.decrease()
        case "reset", "remove": outcome = try await setting.reset()
        case "set":
          let text = form.text ?? ""
          if setting.control == .secret, text.isEmpty { return "\(setting.label) is not changed: nothing was typed." }
          // A field without scripts sends the text back without its line breaks.
          guard await !hasSeveralLines(setting) else {
            return "\(setting.label) has several lines and is not changed here."
          }
          let problems = setting.problems(in: text)
          guard problems.isEmpty else { return "\(setting.label) \(problems.joined(separator: " and "))." }
          outcome = try await setting.set(text: text)
        default: return "\(setting.label) cannot be changed like that."
        }
        guard case .shadowed(let layer) = outcome else { return nil }
        return "Stored, but without effect: \(layer) provides the value."
      } catch { return "Not stored: \(message(of: error))." }
    }

    private func hasSeveralLines(_ setting: any AnySetting) async -> Bool {
      guard setting.control == .text else { return false }
      // A value that cannot be read can be replaced.
      do { return SettingLines.hasSeveral(try await Self.threads.run { try setting.text }) } catch { return false }
    }

    /// For reads, which may wait for the lock of a vault's log.
    fileprivate static var threads: HelperPool { .waiting(for: "settings page") }

    private func states() async -> [SettingState] {
      await Self.threads.run { settings.indices.map { SettingState(of: settings[$0], id: $0) } }
    }

    func state(of id: Int) async -> SettingState {
      await Self.threads.run { SettingState(of: settings[id], id: id) }
    }

    // MARK: Events

    /// Sends the state of each setting, then of each setting that changes, until the session, the connection or the
    /// server ends.
    func events(_ session: PageAccess.Session) -> Response {
      .page(
        .ok, "text/event-stream",
        ResponseBody { [self] writer in
          // A client that reads nothing keeps its stream.
          let count = streams.withLock { count in
            count += 1
            return count
          }
          defer { streams.withLock { $0 -= 1 } }
          guard count <= Self.mostStreams else { return try await writer.finish(nil) }
          let changed = Mutex<Set<Int>>([])
          // One pending wake is sufficient, because a wake sends all changed settings.
          let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
          let watching = Task { [settings] in
            await watch(settings, wake) { id in changed.withLock { _ = $0.insert(id) } }
          }
          defer { watching.cancel() }
          try await withGracefulShutdownHandler {
            for await _ in wakes {
              guard access.isCurrent(session) else { break }
              let ids = changed.withLock { changed in
                defer { changed = [] }
                return changed.sorted()
              }
              // Sends a comment if nothing has changed: only a write detects that the connection was closed.
              var events = ids.isEmpty ? ":\n\n" : ""
              for id in ids { events += "data: \(await state(of: id).json)\n\n" }
              try await writer.write(ByteBuffer(string: events))
            }
          } onGracefulShutdown: {
            wake.finish()
          }
          try await writer.finish(nil)
        })
    }
  }

  /// Calls `change` for each setting at once and whenever it changes. Yields to `wake` after each call, and every 15 s.
  /// Then it also calls `change` for each setting whose value is shown, because a value that cannot be read notifies of
  /// nothing.
  private func watch(
    _ settings: [any AnySetting], _ wake: AsyncStream<Void>.Continuation, _ change: @escaping @Sendable (Int) -> Void
  ) async {
    await withDiscardingTaskGroup { group in
      for (id, setting) in settings.enumerated() {
        group.addTask {
          for await _ in await SettingsPageService.threads.run({ setting.formattedValues() }) {
            change(id)
            wake.yield()
          }
        }
      }
      while !Task.isCancelled {
        wake.yield()
        // Throws only if the task is cancelled.
        do { try await Task.sleep(for: .seconds(15)) } catch { return }
        // A look at a hidden value is a use of its vault, which may have an idle limit, and a read that a vault logs.
        for (id, setting) in settings.enumerated() where !setting.isHidden { change(id) }
      }
    }
  }

  // MARK: Responses

  /// A file that the page consists of.
  struct PageFile: Sendable {
    let name: String
    let type: String
    let bytes: [UInt8]

    static let all = [
      PageFile(name: "page.css", type: "text/css; charset=utf-8", bytes: PackageResources.page_css),
      PageFile(name: "page.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.page_js),
      PageFile(name: "icon.svg", type: "image/svg+xml", bytes: PackageResources.icon_svg),
    ]
  }

  extension RequestBody {
    /// Returns the whole body; `nil` if it has not arrived within `limit`, and can then no longer be read.
    func collect(upTo maxBytes: Int, within limit: Duration) async throws -> ByteBuffer? {
      try await withThrowingTaskGroup(of: ByteBuffer?.self) { group in
        defer { group.cancelAll() }
        group.addTask { try await collect(upTo: maxBytes) }
        group.addTask {
          try await Task.sleep(for: limit)
          return nil
        }
        return try await group.next() ?? nil
      }
    }
  }

  extension Response {
    /// A response in which no foreign script runs, and which no frame shows and no cache keeps.
    static func page(_ status: HTTPResponse.Status, _ type: String, _ body: ResponseBody) -> Response {
      var headers: HTTPFields = [
        .contentType: type, .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
        .contentSecurityPolicy:
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
          + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      ]
      for (name, value) in [
        ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
      ] {
        headers[HTTPField.Name(name)!] = value
      }
      return Response(status: status, headers: headers, body: body)
    }

    static func page(_ status: HTTPResponse.Status, _ type: String, _ content: ByteBuffer) -> Response {
      page(status, type, ResponseBody(byteBuffer: content))
    }

    static func refusal(_ status: HTTPResponse.Status, _ reason: String) -> Response {
      page(status, "text/plain; charset=utf-8", ByteBuffer(string: reason + "\n"))
    }
  }
#endif
