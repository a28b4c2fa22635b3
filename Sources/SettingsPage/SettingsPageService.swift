#if SettingsPage
  public import FoundationEssentials
  public import Hummingbird
  import HummingbirdCore
  public import Logging
  import NIOCore
  public import PreferencesSettings
  public import Preferences
  public import ServiceLifecycle
  import Synchronization

  /// A page in the browser that shows settings and stores what a person changes.
  ///
  /// ```swift
  /// let page = try SettingsPageService(groups, title: "Shop") { url in logger.notice("Settings: \(url)") }
  /// try await page.run()
  /// ```
  ///
  /// Each setting has the control that fits it, and its messages beside it. A change that is made elsewhere appears
  /// without reloading. A secret can be set and removed; its value is in no page, event, message or log line.
  ///
  /// **Access.** The page is served on the loopback interface unless a different host is given, at a path that cannot
  /// be guessed unless a `publicURL` is given: a browser sends cookies to every port of a host. ``url`` opens it once:
  /// the first request exchanges the token in it for the cookie of a session, which lasts until ``url`` is used again
  /// or the program ends. Every user of the machine who knows a fresh ``url`` can open the page, so treat it as a
  /// password. Requests for other host names, from other sites or without the session are refused.
  public final class SettingsPageService: Service {
    let title: String
    let groups: [SettingGroup]
    let access: PageAccess
    private let host: String
    private let port: Int
    private let logger: Logger
    private let onListening: @Sendable (String) async -> Void
    /// The open streams of events.
    let streams = Mutex(0)

    /// A page has one stream, and a browser opens only a few connections to one server.
    static let mostStreams = 32
    /// How long the head of a request may take to arrive, and then the form of a session.
    static let requestLimit = Duration.seconds(30)
    /// How long a shutdown waits for connections, such as one whose client does not read.
    private static let shutdownLimit = Duration.seconds(5)

    /// Creates the page.
    ///
    /// - Parameters:
    ///   - groups: the settings, in the order in which they are shown.
    ///   - title: the title of the page.
    ///   - host: the address to listen on. The connection is not encrypted: for any but a loopback address, listen
    ///     behind a proxy that uses TLS, and give the `publicURL`.
    ///   - port: the port to listen on; 0 for a free one.
    ///   - publicURL: where browsers find the page if that is not `http://HOST:PORT/`: behind a proxy, through a
    ///     forwarded port, or with ``addRoutes(to:)``. A proxy must keep its path, and the field `Host` that the
    ///     browser sends: for nginx, `proxy_set_header Host $http_host`. Requests for any other host are refused, also
    ///     for another name of the same machine. The browser sends the cookie of the session to other ports of this
    ///     host, too, with requests below this path.
    ///   - logger: receives the log lines of Hummingbird.
    ///   - onListening: called with ``url`` when ``run()`` accepts connections.
    /// - Throws: ``PreferencesError/Code/malformed`` if `publicURL` is not an `http` or `https` URL with a host.
    public init(
      _ groups: [SettingGroup], title: String = "Settings", host: String = "127.0.0.1", port: Int = 0,
      publicURL: URL? = nil, logger: Logger = Logger(label: "settings-page"),
      onListening: @escaping @Sendable (_ url: String) async -> Void = { _ in }
    ) throws(PreferencesError) {
      self.groups = groups
      self.title = title
      self.host = host
      self.port = port
      self.logger = logger
      self.onListening = onListening
      access = PageAccess(at: try publicURL.map(PageAddress.init))
    }

    /// The address that opens the page, once; nil until it is known, which without a `publicURL` is when ``run()``
    /// accepts connections. After it was used, this is a new address, which ends the previous session when it is used.
    public var url: String? { access.url }

    /// Serves the page until the group of services shuts down or the task is cancelled. A connection that is still open
    /// five seconds after that is closed.
    ///
    /// - Throws: an error of the system if the address cannot be listened on.
    public func run() async throws {
      let router = Router()
      addRoutes(to: router)
      let idleTimeout = TimeAmount.seconds(Self.requestLimit.components.seconds)
      let application = Application(
        router: router, server: .http1(configuration: .init(idleTimeout: idleTimeout)),
        configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
        onServerRunning: { [self] channel in
          access.listen(on: host, port: channel.localAddress?.port ?? port)
          if let url { await onListening(url) }
        }, logger: logger)
      try await withThrowingTaskGroup(of: Bool.self) { group in
        group.addTask {
          do { try await application.run() } catch is CancellationError {}
          return true
        }
        group.addTask {
          // Throws only if the task is cancelled.
          do {
            try await gracefulShutdown()
            try await Task.sleep(for: Self.shutdownLimit)
          } catch {}
          return false
        }
        while let isEnded = try await group.next(), !isEnded { group.cancelAll() }
        group.cancelAll()
      }
    }

    /// Serves the page as a part of a different server, at the path of the `publicURL`, without which there is no
    /// ``url``. Do not call ``run()`` then.
    public func addRoutes(to router: some RouterMethods) {
      let routes = router.group(RouterPath(access.path))
      routes.get { [self] request, _ in await open(request) }
      for file in PageFile.all {
        routes.get(RouterPath(file.name)) { [self] request, _ in
          await serve(request) { _ in Response.page(.ok, file.type, ByteBuffer(bytes: file.bytes)) }
        }
      }
      routes.get("events") { [self] request, _ in await serve(request, events) }
      routes.post("change/:id") { [self] request, context in
        await serve(request) { await change(context.parameters.get("id", as: Int.self), request, $0) }
      }
    }
  }
#endif
