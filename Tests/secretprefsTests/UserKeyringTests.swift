import Foundation
import Testing

/// Whether a process can become a different user, who can start the tool, with an `/etc` of its own.
private let canChangeUser: Bool = {
  guard geteuid() == 0, let outcome = try? UserKeyringTests.run("as secretprefs version") else { return false }
  return outcome.exit == 0
}()

/// Whether `su -` begins a login session with a keyring of its own.
private let hasLogins: Bool =
  canChangeUser && (try? UserKeyringTests.run("grep -q pam_keyinit /etc/pam.d/su-l && login true").exit) == 0

/// Keys that `unlock` keeps for a user.
@Suite(Keyring.isNeeded, .enabled(if: canChangeUser, "it takes root, a mount namespace, setpriv and perl"))
struct UserKeyringTests {}

extension UserKeyringTests {
  /// Runs lines of shell with an `/etc` that is a copy. `as` runs a command as a new user in a session keyring of its
  /// own, `login` in a login session. `allow` gives the permission.
  fileprivate static func run(_ script: String) throws -> Tool.Outcome {
    let home = try Scratch()
    try home.write("correct horse battery staple", to: "passphrase")
    let user = UInt32.random(in: 1_000_000..<2_000_000_000)
    try home.write(
      """
      set -u
      mkdir etc bin; mount -t tmpfs -o mode=755 tmpfs etc; cp -a /etc/. etc/; mount --bind etc /etc
      rm -rf /etc/secretprefs
      echo 'tester:x:\(user):\(user)::\(home.path):/bin/sh' >> /etc/passwd; echo 'tester:x:\(user):' >> /etc/group
      echo 'tester:*:19000:0:99999:7:::' >> /etc/shadow
      ln -s "\(Tool.path)" bin/secretprefs; cp "$TRANSCRIPTS/keyring.pl" bin; chmod 755 bin bin/keyring.pl
      chown \(user):\(user) . passphrase bin
      in_session() { kind=$1; shift
        setpriv --reuid=\(user) --regid=\(user) --clear-groups perl bin/keyring.pl $kind sh -c "$*" 3< passphrase; }
      as() { in_session 0 "$@"; }
      as_after_logout() { in_session revoked "$@"; }
      login() { su -l tester -c "PATH=\(home.path)/bin:\\$PATH; cd \(home.path); exec 3< passphrase; $*"; }
      allow() { install -D -m 644 /dev/null /etc/secretprefs/user-keyring; }
      \(script)
      """, to: "script")
    return try Tool.shell("PATH=$HOME/bin:$PATH exec unshare -m sh script", in: home)
  }

  private static let vault = """
    as 'secretprefs init --throwaway-cost --passphrase-fd 3' > /dev/null
    as 'printf value | secretprefs set key --passphrase-fd 3'
    unlock='secretprefs unlock --passphrase-fd 3 --keyring user'
    """

  @Test func `a key for the user serves every session, also after a logout, until it is locked`() throws {
    let outcome = try Self.run(
      """
      \(Self.vault)
      allow
      as "$unlock --json" | grep -o '"keyring":"user"'
      as 'secretprefs get key'; echo
      as_after_logout 'secretprefs get key'; echo
      as 'secretprefs status' | grep -E '^(credential|usable)'
      as 'secretprefs status --json' | grep -o '"idleSeconds":300,"keyring":"user"'
      as 'secretprefs doctor --fail-on advice --json' | grep -o '"problem":"unlockedForUser","severity":"advice"'
      grep -c secretprefs.user: /proc/keys
      as 'secretprefs lock --json' | grep -o '"removed".*'
      as 'secretprefs get key --no-prompt' || echo $?
      as 'secretprefs lock'
      """)
    #expect(
      outcome.text == """
        "keyring":"user"
        value
        value
        credential  the key of "secretprefs unlock"
        usable by   all processes of the user, also after a logout
        "idleSeconds":300,"keyring":"user"
        "problem":"unlockedForUser","severity":"advice"
        0
        "removed":true,"keyrings":["user"]}
        78

        """, "\(outcome.errorText)")
    #expect(outcome.errorText.contains("all processes of the user, also after a logout, can use the key"))
    #expect(outcome.errorText.contains("no key of this vault was kept for this session or for the user"))
  }

  @Test func `without the permission nothing is kept, and a key from before is not used`() throws {
    let outcome = try Self.run(
      """
      \(Self.vault)
      as "$unlock" 2> err || echo $?; cat err
      allow; as "$unlock" > /dev/null 2>&1; rm /etc/secretprefs/user-keyring
      as 'secretprefs get key --no-prompt' 2> /dev/null || echo $?
      as 'secretprefs doctor --json' | grep -o '"problem":"unlockedAgainstRule","severity":"warning"'
      as 'secretprefs lock --json' | grep -o '"removed".*'
      """)
    #expect(
      outcome.text == """
        74
        secretprefs: error: this system does not allow to keep keys for a user: /etc/secretprefs/user-keyring: No such \
        file or directory
        secretprefs: hint: use --keyring session; root allows it to all users by "install -D -m 644 /dev/null \
        /etc/secretprefs/user-keyring", and to those of a group with mode 640
        78
        "problem":"unlockedAgainstRule","severity":"warning"
        "removed":true,"keyrings":["user"]}

        """, "\(outcome.errorText)")
  }

  @Test(arguments: [
    ("chmod 666 /etc/secretprefs/user-keyring", "its mode is 0666", "only root can change"),
    ("chmod 775 /etc/secretprefs", "/etc/secretprefs can be written by group or others", "only root can change"),
    ("chown tester /etc/secretprefs/user-keyring", "must belong to root", "only root can change"),
    ("chown tester /etc/secretprefs", "/etc/secretprefs belongs to user", "only root can change"),
    ("chmod 640 /etc/secretprefs/user-keyring", "Permission denied", "mode 640"),
    (
      "mv /etc/secretprefs/user-keyring /etc/x; ln -s /etc/x /etc/secretprefs/user-keyring",
      "Too many levels of symbolic links", "mode 640"
    ),
    ("mv /etc/secretprefs /etc/x; ln -s x /etc/secretprefs", "is not a directory", "only root can change"),
    (
      "rm /etc/secretprefs/user-keyring; mkdir /etc/secretprefs/user-keyring", "is not a regular file",
      "only root can change"
    ),
  ])
  func `a permission that is not root's, or not for the user, is none`(
    _ change: String, _ reason: String, _ hint: String
  ) throws {
    let outcome = try Self.run(
      """
      \(Self.vault)
      allow; \(change)
      as "$unlock"
      """)
    #expect(outcome.exit == 74)
    #expect(outcome.errorText.contains("this system does not allow to keep keys for a user: "))
    #expect(outcome.errorText.contains(reason), "\(outcome.errorText)")
    #expect(outcome.errorText.contains(hint))
  }

  @Test func `the setting of the user chooses the keyring, and that of a project cannot`() throws {
    let outcome = try Self.run(
      """
      \(Self.vault)
      allow
      as 'secretprefs config set unlock.keyring user'
      as 'secretprefs unlock --passphrase-fd 3' > /dev/null
      as 'secretprefs get key'; echo
      as 'secretprefs lock'
      as 'secretprefs unlock --keyring session --passphrase-fd 3' > /dev/null
      as 'secretprefs get key --no-prompt' || echo $?
      as 'echo unlock.keyring = user > .secretprefs; secretprefs config trust' || echo $?
      """)
    #expect(outcome.text == "value\n78\n65\n", "\(outcome.errorText)")
    #expect(outcome.errorText.contains("unlock.keyring can be set in the user's file only"))
  }

  @Test func `the limits of a key for the user are those of a session's`() throws {
    let outcome = try Self.run(
      """
      \(Self.vault)
      allow
      as "$unlock --for 1s" > /dev/null; sleep 1.2
      as 'secretprefs get key --no-prompt' || echo $?
      as "$unlock" > /dev/null
      as 'secretprefs lock --json' | grep -o '"removed":true'
      """)
    #expect(outcome.text == "78\n\"removed\":true\n", "\(outcome.errorText)")
  }

  @Test(.enabled(if: hasLogins, "it takes su with pam_keyinit"))
  func `a login session ends with its key, and a key for the user is there in the next one`() throws {
    let outcome = try Self.run(
      """
      \(Self.vault)
      login 'secretprefs unlock --passphrase-fd 3 && secretprefs get key' | sed 's/until.*/until/'; echo
      login 'secretprefs get key --no-prompt' || echo $?
      allow
      login "$unlock" 2> /dev/null | sed 's/until.*/until/'
      login 'secretprefs get key && echo && secretprefs status | grep usable'
      as 'secretprefs get key'; echo
      login 'secretprefs lock'
      as 'secretprefs get key --no-prompt' || echo $?
      """)
    #expect(
      outcome.text == """
        unlocked until
        value
        78
        unlocked until
        value
        usable by   all processes of the user, also after a logout
        value
        78

        """, "\(outcome.errorText)")
  }

  @Test func `after a logout an error says what is possible`() throws {
    let ended = "the login session that this terminal was started in has ended, and with it what was unlocked: "
    let login = ended + "start tmux or screen again after a new login, or use --key-file or --passphrase-command"
    let user =
      ended + #""secretprefs unlock --keyring user" keeps a key for all sessions; or use --key-file or "#
      + "--passphrase-command"
    let outcome = try Self.run(
      """
      \(Self.vault)
      as_after_logout 'secretprefs get key --no-prompt'
      as_after_logout 'secretprefs unlock --passphrase-fd 3'
      allow
      as_after_logout 'secretprefs get key --no-prompt'
      as_after_logout 'secretprefs unlock --passphrase-fd 3'
      as_after_logout "$unlock > /dev/null"
      as_after_logout 'secretprefs get key'
      """)
    #expect(outcome.text == "value", "\(outcome.errorText)")
    let hints = outcome.errorText.split(separator: "\n").filter { $0.hasPrefix("secretprefs: hint: ") }
    #expect(hints.map { $0.dropFirst("secretprefs: hint: ".count) } == [login[...], login[...], user[...], user[...]])
  }
}
