#if SettingsPage
  import AsyncHTTPClient
  import Foundation
  import Hummingbird
  import HummingbirdCore
  import NIOCore
  import NIOHTTP1
  import PreferencesSettings
  import Preferences
  import Testing

  @testable import SettingsPage

  /// Who may use the page.
  struct AccessTests {
    private let store = DictionaryPreferences()
  }

  extension AccessTests {
    @Test func `a link opens the page once`() async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        let link = browser.link
        let second = try await browser.get(link)
        #expect(second.status == 200)
        #expect(second.headers.contains(name: "Set-Cookie"))
        let third = try await browser.get(link)
        #expect(third.status == 403)
        #expect(!third.headers.contains(name: "Set-Cookie"))
      }
    }

    @Test func `a new link ends the session of the last one`() async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        #expect(try await browser.get("").status == 200)
        _ = try await Browser(browser.page, browser.log, opening: browser.page.url ?? "")
        #expect(try await browser.get("").status == 403)
        #expect(try await browser.change(0, ["text": "true"]).status == 403)
        #expect(try store.value(for: .isOpen) == false)
      }
    }

    @Test func `a session that ends while a form arrives changes nothing`() async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        let head = HTTPRequest(
          method: .post, scheme: nil, authority: nil, path: "\(browser.path)change/0",
          headerFields: [.cookie: browser.cookie, .origin: browser.origin])
        let form = ByteBuffer(string: "token=\(browser.formToken)&text=true")
        let request = Request(head: head, body: RequestBody(buffer: form))
        let session = try #require(browser.page.access.session(of: request))

        _ = try await Browser(browser.page, browser.log, opening: browser.page.url ?? "")
        let response = await browser.page.change(0, request, session)

        #expect(response.status == .forbidden)
        #expect(try store.value(for: .isOpen) == false)
      }
    }

    @Test func `a form that does not arrive in time is not waited for, however many bytes come`() async throws {
      let (body, source) = RequestBody.makeStream()
      let sending = Task {
        while !Task.isCancelled {
          await source.yield(ByteBuffer(string: "a"))
          try await Task.sleep(for: .milliseconds(1))
        }
      }
      #expect(try await body.collect(upTo: .max, within: .milliseconds(50)) == nil)
      sending.cancel()
      source.finish()
    }

    @Test func `a form that arrives in time is read whole`() async throws {
      let (body, source) = RequestBody.makeStream()
      await source.yield(ByteBuffer(string: "token="))
      await source.yield(ByteBuffer(string: "a"))
      source.finish()
      let text = try await body.collect(upTo: 10, within: .seconds(3600)).map { String(buffer: $0) }
      #expect(text == "token=a")
    }

    @Test func `a browser that fetches ahead does not use a link up`() async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        let link = browser.link
        #expect(try await browser.get(link, ["Sec-Purpose": "prefetch"]).status == 403)
        #expect(try await browser.get(link).status == 200)
      }
    }

    @Test func `the cookie is out of reach of scripts and of other sites`() async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        let link = browser.link
        let cookie = try #require(try await browser.get(link).headers.first(name: "Set-Cookie"))
        let parts = Set(cookie.components(separatedBy: "; ").dropFirst())
        // Cookies are sent to all ports of a host, so the path is the only thing that keeps them from other servers.
        let path = try #require(parts.first { $0.hasPrefix("Path=") })
        #expect(path.wholeMatch(of: /Path=\/[0-9a-f]{64}/) != nil)
        #expect(parts == ["HttpOnly", "SameSite=Strict", path])
        #expect(cookie.contains(/=[0-9a-f]{64};/))
      }
    }

    @Test(arguments: ["", "page.js", "page.css", "icon.svg", "events"])
    func `nothing is served without the session`(file: String) async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        #expect(try await browser.get(file, ["Cookie": ""]).status == 403)
        let forged = browser.cookie.dropLast() + (browser.cookie.hasSuffix("0") ? "1" : "0")
        #expect(try await browser.get(file, ["Cookie": String(forged)]).status == 403)
      }
    }

    @Test func `a request with a second host is refused`() async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        let own = browser.origin.replacing("http://", with: "")
        for hosts in [[own, "attacker.example"], ["attacker.example", own]] {
          let headers = HTTPHeaders(hosts.map { ("Host", $0) })
          #expect(try await browser.get("", headers).status == 421, "\(hosts)")
        }
      }
    }

    @Test(arguments: ["attacker.example", "localhost", "127.0.0.1"])
    func `a request for a different host is refused`(host: String) async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        let link = browser.link
        #expect(try await browser.get("", ["Host": host]).status == 421)
        let refused = try await browser.get(link, ["Host": host])
        #expect(refused.status == 421)
        #expect(refused.text.contains("It is 127.0.0.1:\(browser.port);"))
        #expect(try await browser.change(0, ["text": "true"], ["Host": host]).status == 421)
        #expect(try await browser.get(link).status == 200)
      }
    }

    @Test(
      arguments: [
        ["Origin": "http://attacker.example"], ["Origin": "http://127.0.0.1"], ["Origin": "null"], ["Origin": ""],
        ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
        ["Origin": "null", "Sec-Fetch-Site": "none"],
      ] as [HTTPHeaders])
    func `a form of a different site is refused`(headers: HTTPHeaders) async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        #expect(try await browser.change(0, ["text": "true"], headers).status == 403)
        #expect(try store.value(for: .isOpen) == false)
      }
    }

    @Test func `a form without the token of the session is refused`() async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        let other = String(browser.formToken.reversed())
        #expect(try await browser.change(0, ["text": "true"], token: other).status == 403)
        #expect(try await browser.change(0, ["text": "true"], token: "").status == 403)
        let none = try await browser.send(.POST, "change/0", body: "text=true")
        #expect(none.status == .badRequest)
        #expect(try store.value(for: .isOpen) == false)
      }
    }

    @Test func `a form that is too long is refused`() async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        let answer = try await browser.change(4, ["text": String(repeating: "a", count: 65_537)])
        #expect(answer.status == 413)
        #expect(try store.value(for: .greeting) == "Welcome")
      }
    }

    @Test(arguments: ["", "page.js", "?token=wrong", "events"])
    func `every answer keeps scripts, frames and caches of others out`(file: String) async throws {
      try await withPage(try plainSettings(in: store)) { browser async throws in
        let response = try await browser.send(.GET, file)
        let policy = try #require(response.headers.first(name: "Content-Security-Policy")).components(separatedBy: "; ")
        for part in ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"] {
          #expect(policy.contains(part))
        }
        #expect(!policy.contains { $0.contains("unsafe") || $0.contains("*") })
        let expected = [
          "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
          "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
        ]
        for (name, value) in expected { #expect(response.headers[name] == [value]) }
      }
    }

    @Test func `the page is a part of a different server`() async throws {
      let url = try #require(URL(string: "https://shop.example:443/admin/settings/"))
      let page = try SettingsPageService([SettingGroup("", try plainSettings(in: store))], publicURL: url)
      #expect(page.url?.hasPrefix("https://shop.example/admin/settings/?token=") == true)
      let router = Router()
      page.addRoutes(to: router)
      #expect(router.routes.map(\.path.description).contains("/admin/settings/events"))
    }

    @Test func `a host is compared without its case`() async throws {
      try await withPage(try plainSettings(in: store), host: "LocalHost") { browser async throws in
        #expect(browser.page.url?.hasPrefix("http://localhost:") == true)
        #expect(try await browser.get("", ["Host": "LOCALHOST:\(browser.port)"]).status == 200)
      }
    }

    @Test(arguments: ["ftp://shop.example", "file:///settings", "settings"])
    func `a public URL must be one of HTTP`(text: String) throws {
      let url = try #require(URL(string: text))
      #expect { try SettingsPageService([], publicURL: url) } throws: { ($0 as? PreferencesError)?.code == .malformed }
    }
  }
#endif
