internal import DurableFiles
internal import PreferencesSettings
internal import Preferences
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// A settings screen on a terminal, until a key or a signal ends it.
struct SettingsSession {
  private var screen: SettingsScreen
  private let terminal: ScreenTerminal
  private let events: ScreenEvents
  private var decoder = KeyDecoder()
  private var keys: [KeyPress] = []
  private var isChanging = false
  /// The change that stores what was typed at the last prompt, until it has succeeded.
  private var typed: (@Sendable () async throws -> Void)?
  /// Whether the terminal may not show the present screen.
  private var isStale = true

  /// Shows the settings of `file`.
  static func run(_ file: SettingsFile) throws {
    let events = try ScreenEvents()
    // The default handler would write on the screen.
    PreferenceFailures.setHandler { events.send(.failed($0.error)) }
    let observation = file.store.observe { _ in events.send(.storeChanged) }
    let watch = try file.watch()
    defer { extendLifetime((observation, watch)) }
    var session = SettingsSession(
      screen: SettingsScreen(file.groups, title: PathName.last(of: file.path)), terminal: try ScreenTerminal(),
      events: events)
    try session.run()
  }

  private init(screen: SettingsScreen, terminal: ScreenTerminal, events: ScreenEvents) {
    self.screen = screen
    self.terminal = terminal
    self.events = events
  }

  private mutating func run() throws {
    while true {
      if let number = PendingSignal.take() { guard try stop(number) else { return } }
      if !terminal.isIntact { try redraw() }
      for event in events.take() { receive(event) }
      while !isChanging, !keys.isEmpty {
        guard try press(keys.removeFirst()) else { return }
      }
      try draw()
      switch terminal.read(unlessReady: events.descriptor) {
      case .bytes(let bytes): keys += decoder.keys(in: bytes)
      case .pause: keys += decoder.keysAfterPause()
      case .none: break
      case .screenLost: isStale = true
      case .end: return
      }
    }
  }

  private mutating func draw() throws {
    let size = ScreenTerminal.size
    guard isStale || size != screen.size else { return }
    screen.size = size
    isStale = false
    try Output.write(screen.frame().drawing)
  }

  /// Stops the process at a Ctrl-Z and returns true when it continues. Returns false for a signal that ends it.
  private mutating func stop(_ number: Int32) throws -> Bool {
    guard number == SIGTSTP else {
      PendingSignal.keep(number)
      return false
    }
    terminal.restore()
    raise(SIGTSTP)  // returns when the shell continues this process
    try redraw()
    return true
  }

  private mutating func redraw() throws {
    try terminal.prepare()
    decoder = KeyDecoder()  // the end of a paste may have been discarded
    isStale = true
  }

  private mutating func receive(_ event: ScreenEvents.ScreenEvent) {
    isStale = true
    switch event {
    case .storeChanged: break
    case .failed(let error): screen.status = SettingsScreen.message(error)
    case .changeEnded(let error):
      isChanging = false
      if error == nil {
        Output.recordChange(by: Settings.self)
        typed = nil
      }
      screen.finish(error)
      if error != nil, typed != nil { screen.status = (screen.status ?? "") + "; t tries again with what you typed" }
    }
  }

  /// Returns false if the key ends the session.
  private mutating func press(_ key: KeyPress) throws -> Bool {
    isStale = true
    if key == .character("t"), screen.editor == nil, let typed {
      begin(typed)
      return true
    }
    switch screen.press(key) {
    case .none: break
    case .leave: return false
    case .change(let change): begin(change)
    case .prompt(let setting): return try prompt(for: setting)
    }
    return true
  }

  private mutating func begin(_ change: @escaping @Sendable () async throws -> Void) {
    isChanging = true
    Task.detached { [events] in
      do {
        try await change()
        events.send(.changeEnded(nil))
      } catch { events.send(.changeEnded(error)) }
    }
  }

  /// Prompts for a secret on the shell's screen. Returns false after a signal that ends the session.
  private mutating func prompt(for setting: any AnySetting) throws -> Bool {
    terminal.restore()
    // What was typed ahead was not meant for the list either.
    keys = []
    let secret: SecretBytes
    do {
      secret = try ControllingTerminal(marksPaste: true)
        .askValue("\(displayed(setting.name)) (empty for no change): ")
    } catch {
      guard !PendingSignal.isPending else { return false }
      try redraw()
      screen.status = ToolError(thrown: error).message
      return true
    }
    try redraw()
    guard secret.count > 0 else { return true }
    do {
      let text = try secret.withSpan { try Secret<String>(copying: $0) }
      let change: @Sendable () async throws -> Void = {
        // A secret of the vault never becomes a string, which cannot be wiped.
        if let sealed = setting as? Setting<String?>, sealed.key.secrecy == .secret {
          try await sealed.store.set(text, forKey: sealed.name)
        } else {
          try await setting.set(text: text.withValue { $0 })
        }
      }
      typed = change
      begin(change)
    } catch { screen.status = SettingsScreen.message(error) }
    return true
  }
}
