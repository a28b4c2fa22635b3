import Foundation
import Testing

struct CanaryTests {
  static let canary = TranscriptTests.canary

  private static let userURL: String = "postgresql://u:" + canary + "@h/d#v"
  private static let parameters: String = "host=h password = " + canary
  private static let parameterURL: String = "postgresql://h/d?password=" + canary + "#v"

  /// Every way to say something wrong, with a secret in the wrong place.
  static let wrong: [[String]] =
    [
      [canary], ["--" + canary], ["-" + canary], ["help", canary], ["---completion", canary],
      ["---completion", "get", "--", canary], ["--generate-completion-script", canary],
      ["--generate-completion-script=" + canary], ["--version=" + canary], ["--help=" + canary],
      ["set", "key", canary], ["set", "key=" + canary], ["set", "=" + canary], ["set", "key", "--", canary],
      ["set", "--value", canary, "key"],
      ["set", "key", "--value=" + canary], ["set", "key", "--data=" + canary], ["set", "--file", canary, "key"],
      ["get", "key", canary], ["get", "key", "--newline=" + canary], ["remove"], ["remove", "--" + canary],
      ["list", canary], ["status", canary], ["init", canary], ["init", "--passphrase", canary],
      ["init", "--passphrase=" + canary], ["init", "--throwaway-cost=" + canary],
      ["init", "--passphrase-fd", canary], ["exit-codes", canary], ["completion", canary], ["version", canary],
      ["version", "--json=" + canary],
      ["completion", "bash", canary],
      ["completion", "--shell=" + canary], ["exit-codes", "--json=" + canary],
      ["help", "groups", canary], ["help", "slots", "add", canary], ["groups", canary], ["groups", "list", canary],
      ["groups", "create", canary], ["groups", "create", "a", canary], ["groups", "rename", canary],
      ["groups", "rename", "a", canary], ["groups", "rename", "a", "b", canary], ["groups", "remove", canary],
      ["groups", "remove", "a", canary], ["groups", "remove", "a", "--yes=" + canary], ["slots", canary],
      ["slots", "list", canary], ["slots", "add", canary], ["slots", "add", "--throwaway-cost=" + canary],
      ["slots", "remove", canary], ["slots", "remove", "012345", canary],
      ["slots", "add", "--public-key", canary], ["slots", "remove", "--public-key", canary], ["slots", "pin", canary],
      ["slots", "replace", "012345", "--public-key", canary], ["slots", "replace", "012345", "--keep-old=" + canary],
      ["get", "key", "--trust", canary], ["get", "key", "--identity", "a", "--trust", canary],
      ["identity", canary], ["identity", "new", "a", canary], ["identity", "new", "--trust", canary, "a"],
      ["identity", "show", "a", canary], ["identity", "trust", "a", canary], ["identity", "trust", "a", "b", canary],
      ["requests", canary], ["requests", "list", canary], ["requests", "add", canary],
      ["requests", "add", "--identity", "a", "--note", canary + "\n"],
      ["requests", "grant", canary], ["requests", "grant", canary, "--owner"], ["requests", "remove", canary],
      ["requests", "grant", "01234567", "--owner=" + canary], ["requests", "remove", "01234567", canary],
      ["identity", "key", "--trust", canary, "a"], ["identity", "key", "a", canary],
      ["rotate", "--vault-keys", "--keep-holders=" + canary],
      ["slots", "remove", "012345", "--without-rotation=" + canary], ["passphrase", canary],
      ["passphrase", "--slot", canary], ["rotate", canary], ["rotate", "--vault-keys", canary],
      ["rotate", "--vault-keys=" + canary], ["rotate", "--group", "a", canary], ["compact", canary],
      ["info", "key", canary], ["verify", canary], ["verify", "--report=" + canary], ["backup", "a", canary],
      ["set", "key", "--expiry", canary], ["set", "key", "--history", canary], ["set", "key", "--attribute", canary],
      ["set", "key", "--if-revision", canary], ["set", "key", "--label", canary, canary], ["edit", canary],
      ["edit", "key", canary, "--no-label"], ["edit", "key", "--no-label=" + canary],
      ["edit", "key", "--expiry", canary],
      ["edit", "key", "--history", canary], ["edit", "key", "--attribute", canary],
      ["edit", "key", "--attribute", "=" + canary], ["edit", "key", "--no-attribute", canary + "\u{1}"],
      ["edit", "key", "--if-revision", canary], ["edit", "key", "--comment", canary, "--no-comment"],
      ["edit", "key", "--value", canary], ["edit", "key", "--value=" + canary],
      ["edit", "key", "--value", "--yes=" + canary],
      ["history", canary], ["history", "key", canary], ["history", "list", "key", canary],
      ["history", "restore", canary], ["history", "removed", canary],
      ["history", "removed", "--all-services=" + canary],
      ["history", "undo", canary], ["history", "undo", "1", canary],
      ["history", "undo", "1", "--group", canary + "\u{1}"],
      ["remove", "key", "--now=" + canary],
      ["history", "restore", "key", canary], ["history", "restore", "key", "1", canary],
      ["get", "key", "--clip", canary], ["get", "key", "--clip=" + canary],
      ["get", "key", "-c", "--clear-after", canary],
      ["get", "key", "--revision", canary], ["get", "key", "--refuse-expired=" + canary], ["list", "--long=" + canary],
      ["mark", canary], ["mark", "show", canary], ["mark", "init", canary], ["mark", "accept", canary],
      ["mark", "accept", "--yes=" + canary], ["audit", canary], ["audit", "show", canary],
      ["audit", "--since", canary], ["audit", "verify", canary], ["audit", "on", canary],
      ["audit", "on", "--fail-open=" + canary],
      ["audit", "off", canary], ["audit", "rotate", canary], ["audit", "acknowledge", canary],
      ["bundle", canary], ["bundle", "export", canary],
      ["bundle", "export", "--to", "b", "--all", canary], ["bundle", "export", "--to", "b", "--all=" + canary, "a"],
      ["bundle", "import", "b", canary], ["bundle", "import", "b", "--replace=" + canary], ["doctor", canary],
      ["doctor", "--repair", canary], ["doctor", "--repair", "permissions", canary], ["doctor", "--unlock=" + canary],
      ["doctor", "--repair", "empty-group", canary, "--yes=" + canary], ["salvage", canary],
      ["salvage", "--to", "s", canary], ["new-key"], ["new-key", "a", canary], ["new-key", "--" + canary, "a"],
      ["backup", "create", "a", canary], ["backup", "restore", "a", canary], ["backup", "restore", "--yes=" + canary],
      ["set", "key", "--accessibility", canary], ["set", "key", "--accessibility=" + canary],
      ["config", canary], ["config", "list", canary], ["config", "set", canary], ["config", "set", canary, "a"],
      ["config", "set", "history", canary], ["config", "set", "unlock.for", canary],
      ["config", "set", "--project", "vault", userURL],
      ["config", "set", "vault", parameters], ["get", "key", "--vault", parameters],
      ["config", "set", "vault", parameterURL], ["config", "set", "service", "a", canary],
      ["config", "unset", canary], ["config", "unset", "group", canary], ["config", "trust", "a", canary],
      ["rotate-value", canary], ["rotate-value", "key", canary], ["rotate-value", "--generate", "key", canary],
      ["rotate-value", "key", "--length", canary], ["rotate-value", "key", "--expiry", canary, "--generate"],
      ["rotate-value", canary, "--confirm"], ["set", "key", "--not-secret=" + canary],
      ["set", "key", "--secret", canary],
      ["settings"], ["settings", "a", canary], ["settings", "a", "--" + canary], ["settings", "a", "--json=" + canary],
      ["settings", "a", "name=" + canary],
      ["run", canary], ["run", "--env", canary, "--", "true"], ["run", "--env", canary + "=a", "--", "true"],
      ["run", "--env", "A=" + canary, "--", "true"], ["run", "--file", canary, "--", "true"],
      ["run", "--only", canary, "--", "true"],
      ["run", "--mask=" + canary, "--", "true"], ["run", "--", canary], ["run", "--only=" + canary, canary],
      ["scan"], ["scan", "-", "--service", canary], ["scan", "--git=" + canary, "."],
      ["check", "--syntax=" + canary], ["check", "--expires-within", canary, "k"],
      ["get", "secret://" + canary], ["get", "secret://a/b#" + canary], ["get", "SECRET://" + canary + "/a"],
      ["get", "op://" + canary], ["set", "secret://" + canary], ["run", "--env", "A=secret://" + canary, "--", "true"],
      ["run", "--only", "secret://" + canary, "--", "true"], ["run", "--match", canary + "\\", "--", "true"],
      ["copy", "a", "secret://" + canary], ["move", "a", "--to-group", canary + "\u{1}"],
      ["rename", "a", "secret://a/" + canary], ["services", canary], ["overview", canary],
      ["list", "--expires-within", canary],
      ["run", "--expires-within", canary, "--", "true"], ["doctor", "--fail-on", canary],
      ["doctor", "--expires-within", canary], ["services", "--group", canary],
      ["remove", "secret://" + canary], ["remove", "--match", canary + "\\"], ["remove", "--match", "a", canary],
      ["remove", "--except", canary], ["export", "--match", canary + "\\"], ["scan", ".", "--except", canary + "\\"],
      ["audit", "show", "--match", canary + "\\"], ["export", "--all-groups=" + canary],
      ["list", "--references=" + canary], ["find", "a", "--all-groups=" + canary],
      ["inject", canary], ["inject", "--out", "o", canary], ["inject", "--json=" + canary],
      ["unlock", canary], ["unlock", "--for", canary], ["unlock", "--idle=" + canary], ["lock", canary],
      ["unlock", "--keyring", canary], ["config", "set", "unlock.keyring", canary],
      ["lock", "--json=" + canary], ["get", "key", "--passphrase-command", canary],
      ["get", "key", "--passphrase-command=" + canary], ["get", "key", "--passphrase-command", "'" + canary],
      ["rename", canary], ["rename", "a", canary], ["rename", "a", "b", canary],
      ["rename", "a", "b", "--replace=" + canary],
      ["copy", canary], ["copy", "a", "b", canary], ["copy", "a", "--to-service", canary],
      ["copy", "a", "b", "--if-revision", canary], ["move", canary], ["move", "a", "b", canary],
      ["move", "a", "--to-service", canary + "\u{1}"], ["generate", canary], ["generate", "key", canary],
      ["generate", "key", "--length", canary], ["generate", "key", "--print=" + canary],
      ["generate", "key", "--length=" + canary], ["generate", "key", "--expiry", canary],
      ["generate", "key", "--words", canary], ["generate", "key", "--separator", canary],
      ["generate", "key", "--words", "6", "--separator", canary + "\u{1}"],
      ["generate", "key", "--words", "6", canary],
      ["list", canary, canary], ["list", canary + "\\"], ["list", "--tree=" + canary], ["find", canary],
      ["find", canary, canary], ["find", "--value", canary], ["find", "--value=" + canary],
      ["find", "--value", "-", canary],
      ["find", canary, "--exact"],
      ["qr", canary], ["qr", "key", canary], ["qr", "key", "--print=" + canary],
      ["otp", canary], ["otp", "key", canary], ["otp", "key", "--json=" + canary], ["otp", "--" + canary, "key"],
      ["git-credential"], ["git-credential", canary], ["git-credential", "get", canary],
      ["git-credential", "get", "--service", canary + "\u{1}"], ["git-credential", "store", "--json=" + canary],
      ["docker-credential"], ["docker-credential", canary], ["docker-credential", "get", canary],
      ["docker-credential", "--" + canary, "list"], ["docker-credential", "list", "--group", canary],
      ["import"], ["import", "a", canary], ["import", "a", "--format", canary],
      ["import", "a", "--on-conflict", canary], ["import", "a", "--dry-run=" + canary],
      ["import", "a", "--prefix", canary], ["export", canary], ["export", "--format", canary],
      ["export", "--name", canary], ["export", "--format", "kubernetes", "--name", canary],
    ]
    + [["init"], ["set", "key"], ["get", "key"], ["list"], ["remove", "key"], ["status"]].flatMap {
      with(
        [
          "--password", "--passphrase", "--secret", "--token", "--" + canary, "-p", "--lock-timeout", "--lock-timeout=",
          "--passphrase-fd", "--passphrase-fd=", "--service=", "--group=a\u{1}", "--json=",
        ], $0)
    }
    + [
      ["groups"], ["groups", "create", "a"], ["groups", "rename", "a", "b"], ["groups", "remove", "a"], ["slots"],
      ["slots", "add"], ["slots", "remove", "012345"], ["passphrase"], ["rotate", "--vault-keys"], ["compact"],
      ["info", "key"], ["verify"], ["backup", "a"], ["edit", "key", "--no-label"], ["history", "key"],
      ["history", "restore", "key", "1"], ["history", "removed"], ["history", "undo", "1"], ["run", "--only", "a"],
      ["inject"], ["scan", "."],
      ["rename", "a", "b"], ["copy", "a", "b"], ["move", "a", "--to-service", "b"],
      ["generate", "key"], ["otp", "key"], ["find", "a"], ["mark"], ["mark", "init"], ["mark", "accept"],
      ["audit"], ["audit", "on"], ["audit", "off"], ["audit", "verify"],
      ["bundle", "export", "--to", "b", "a"], ["bundle", "import", "b"], ["doctor"], ["salvage", "--to", "s"],
      ["backup", "restore", "a"], ["import", "a"], ["export"], ["unlock"], ["lock"],
      ["git-credential", "get"], ["docker-credential", "list"],
    ].flatMap {
      with(
        [
          "--password", "--passphrase=", "--" + canary, "-p", "--json=", "--new-passphrase",
          "--new-passphrase-fd", "--keep-passphrase=", "--keep-passphrase-fd=", "--new-key=",
          "--bundle-passphrase=", "--bundle-passphrase-fd", "--device-key=",
        ], $0)
    }
    // Options for paths, of other commands.
    + [
      ["get", "key", "--bundle-key-file", canary], ["list", "--new-key-file", canary], ["status", "--to", canary],
      ["init", "--device-key-file", canary], ["verify", "--keep-key-file=" + canary], ["get", "key", "--file", canary],
    ]

  private static func with(_ options: [String], _ command: [String]) -> [[String]] {
    options.map { option in
      command + (option.hasSuffix("=") || option.hasSuffix("\u{1}") ? [option + canary] : [option, canary])
    }
  }

  @Test(arguments: wrong) func `a secret in the wrong place is not repeated`(_ arguments: [String]) throws {
    let home = try Scratch()
    for arguments in [arguments, arguments + ["--json"], [arguments[0], "--json"] + arguments.dropFirst()] {
      let outcome = try Tool.run(arguments, in: home)
      #expect(!outcome.text.contains(Self.canary))
      #expect(!outcome.errorText.contains(Self.canary))
      // docker's protocol has errors on standard output.
      if outcome.exit != 0, arguments[0] != "docker-credential" { #expect(outcome.output.isEmpty) }
    }
  }

  @Test(arguments: [
    "missing", "rejected", "foreign", "name", "group", "key file", "text", "new group", "no group", "slot", "label",
    "new key file", "new passphrase", "kept key file", "rotated group",
    "edited key", "restored key", "compared revision", "long comment", "mark", "device key", "bundle", "bundle key",
    "exported key", "repaired group", "doctor", "restored backup", "salvaged", "accessibility", "command", "variable",
    "chosen key", "template", "env file", "reference", "searched service", "searched group", "imported value",
    "imported key",
    "imported format", "one-time code",
  ])
  func `a failure after the arguments were understood repeats nothing`(_ failure: String) throws {
    let home = try Scratch()
    try #require(Tool.run(["init", "--key-file", "k"], in: home).exit == 0)
    try home.write(Self.canary, to: "value")
    var environment: [String: String] = [:]
    var arguments = ["set", "key", "--file", "value", "--key-file", "k"]
    switch failure {
    case "missing": arguments = ["get", Self.canary, "--service", Self.canary, "--key-file", "k"]
    case "rejected":
      arguments = ["get", "key"]
      environment["SECRETPREFS_PASSPHRASE"] = Self.canary
    case "foreign":
      try home.write(Self.canary, to: "foreign")
      arguments += ["--vault", "foreign"]
    case "name": arguments[1] = Self.canary + "\u{1}"
    case "group": arguments += ["--group", Self.canary]
    case "key file": arguments = ["get", "key", "--key-file", "value"]
    case "new group": arguments = ["groups", "create", Self.canary + "\u{1}", "--key-file", "k"]
    case "no group": arguments = ["groups", "remove", Self.canary, "--yes", "--key-file", "k"]
    case "slot": arguments = ["passphrase", "--slot", Self.canary, "--key-file", "k"]
    case "label": arguments = ["slots", "add", "--label", Self.canary, "--key-file", "k"]
    case "new key file":
      arguments = ["slots", "add", "--new-key-file", "missing/k", "--label", Self.canary, "--key-file", "k"]
    case "new passphrase":
      arguments = ["passphrase", "--new-passphrase-fd", "0", "--key-file", "k"]
    case "kept key file": arguments = ["rotate", "--vault-keys", "--keep-key-file", "value", "--key-file", "k"]
    case "rotated group": arguments = ["rotate", "--group", Self.canary, "--key-file", "k"]
    case "edited key":
      arguments = ["edit", Self.canary, "--label", Self.canary, "--attribute", "a=" + Self.canary, "--key-file", "k"]
    case "restored key": arguments = ["history", "restore", Self.canary, "7", "--key-file", "k"]
    case "compared revision": arguments += ["--if-revision", "7", "--comment", Self.canary]
    case "mark": arguments += ["--mark", "value"]
    case "device key": arguments += ["--device-key-file", "value"]
    case "accessibility": arguments += ["--accessibility", Self.canary]
    case "bundle": arguments = ["bundle", "import", "value", "--bundle-key-file", "k", "--key-file", "k"]
    case "bundle key": arguments = ["bundle", "import", "k", "--bundle-key-file", "value", "--key-file", "k"]
    case "exported key":
      arguments = ["bundle", "export", "--to", "b", "--new-key-file", "n", Self.canary, "--key-file", "k"]
    case "repaired group": arguments = ["doctor", "--repair", "empty-group", Self.canary, "--yes", "--key-file", "k"]
    case "doctor": arguments = ["doctor", "--repair", "permissions", "--vault", "value", "--key-file", "value"]
    case "restored backup": arguments = ["backup", "restore", "value", "--yes", "--key-file", "k"]
    case "salvaged": arguments = ["salvage", "--vault", "value", "--to", "s", "--key-file", "value"]
    case "command", "variable":
      try #require(Tool.run(["set", "key", "--file", "value", "--key-file", "k"], in: home).exit == 0)
      let chosen = failure == "command" ? "A=key" : "LD_PRELOAD=key"
      arguments = ["run", "--env", chosen, "--key-file", "k", "--", Self.canary]
    case "one-time code":
      try #require(Tool.run(["set", "key", "--file", "value", "--key-file", "k"], in: home).exit == 0)
      arguments = ["otp", "key", "--key-file", "k"]
    case "chosen key": arguments = ["run", "--env", "A=" + Self.canary, "--key-file", "k", "--", "true"]
    case "template":
      try home.write("{{ secret://\(Self.canary) }}", to: "text")
      arguments = ["inject", "--in", "text", "--key-file", "k"]
    case "env file":
      try home.write("A=secret://\(Self.canary)", to: "text")
      arguments = ["run", "--env-file", "text", "--key-file", "k", "--", "true"]
    case "reference": arguments = ["get", "secret://s/" + Self.canary, "--key-file", "k"]
    case "searched service": arguments = ["scan", "value", "--service", Self.canary, "--key-file", "k"]
    case "searched group": arguments = ["scan", "value", "--group", Self.canary, "--key-file", "k"]
    case "imported value": arguments = ["import", "value", "--format", "dotenv", "--key-file", "k"]
    case "imported key":
      try home.write("A='" + Self.canary + "'\n=" + Self.canary, to: "value")
      arguments = ["import", "value", "--format", "dotenv", "--key-file", "k"]
    case "imported format": arguments = ["import", "value", "--key-file", "k"]
    case "long comment": arguments += ["--comment", String(repeating: Self.canary, count: 10_000)]
    default:
      let bytes = Data(Self.canary.utf8) + [0xFF]
      try bytes.write(to: URL(filePath: home.file("value")))
    }
    for arguments in [arguments, arguments + ["--json"]] {
      let outcome = try Tool.run(arguments, in: home, input: home.file("value"), environment: environment)
      #expect(outcome.exit != 0)
      #expect(outcome.output.isEmpty)
      #expect(!outcome.errorText.contains(Self.canary))
    }
  }

  @Test(arguments: [
    ["get", "key", "--key-file", "k", "--vault"], ["get", "key", "--key-file"],
    ["init", "--vault", "other", "--key-file"],
    ["get", "key", "--key-file", "k", "--mark"], ["get", "key", "--key-file", "k", "--device-key-file"],
    ["set", "key", "--key-file", "k", "--file"], ["salvage", "--key-file", "k", "--vault"],
    ["slots", "add", "--key-file", "k", "--new-key-file"], ["backup", "restore", "--key-file", "k"],
  ])
  func `an error of a file names its path, and nothing in the path moves the cursor`(_ arguments: [String]) throws {
    let home = try Scratch()
    try #require(Tool.run(["init", "--key-file", "k"], in: home).exit == 0)
    let arguments =
      arguments + ["missing\u{1B}[2J\u{202E}/file"] + (arguments[0] == "salvage" ? ["--to", "new"] : [])

    let plain = try Tool.run(arguments, in: home)
    #expect(plain.exit != 0)
    #expect(plain.errorText.contains("missing\\u{1B}[2J\\u{202E}/file"))
    #expect(!plain.errorText.contains("\u{1B}"))
    let json = try Tool.run(arguments + ["--json"], in: home)
    #expect(json.errorText.contains("missing\\u001b[2J\\u202e/file"))
  }

  @Test func `an argument that is not UTF-8 is refused`() throws {
    let outcome = try Tool.shell("secretprefs get \"$(printf 'CANARY-7f3a\\377')\"", in: try Scratch())
    #expect(outcome.exit == 64)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errorText == "secretprefs: error: an argument is not valid UTF-8\n")
  }

  @Test(arguments: [
    "CREDENTIALS_DIRECTORY", "SECRETPREFS_KEY_FILE", "SECRETPREFS_DEVICE_KEY_FILE",
  ])
  func `a variable that is not UTF-8 is refused, and no other way to unlock is used`(_ name: String) throws {
    let outcome = try Tool.shell(
      """
      secretprefs init --key-file k && mkdir d && cp k d/secret-preferences.key || exit
      export SECRETPREFS_KEY_FILE=k \(name)="$(printf 'CANARY-7f3a\\377')"
      mkdir "$\(name)" && cp k "$\(name)/secret-preferences.key" || exit
      exec secretprefs list
      """, in: try Scratch())
    #expect(outcome.exit == 64)
    #expect(outcome.errorText == "secretprefs: error: \(name) is not valid UTF-8\n")
  }

  @Test func `an argument that is not UTF-8 is refused in JSON where JSON is requested`() throws {
    let outcome = try Tool.shell("secretprefs get \"$(printf 'CANARY-7f3a\\377')\" --json", in: try Scratch())
    #expect(outcome.exit == 64)
    #expect(
      outcome.errorText
        == #"{"error":{"code":"usage","message":"an argument is not valid UTF-8","exit":64}}"# + "\n")
  }
}
