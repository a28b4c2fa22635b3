import Foundation
import Testing

private let mayMount: Bool = {
  guard geteuid() == 0, let home = try? Scratch() else { return false }
  return (try? Tool.shell("unshare -m mount -t tmpfs tmpfs \(home.path)", in: home).exit) == 0
}()

/// A vault whose file is mounted by itself, and not its directory. `Scripts/faults/disk` tries what is refused.
@Suite(.enabled(if: mayMount, "it takes root and a mount namespace of one's own"))
struct MountedVaultTests {}

extension MountedVaultTests {
  /// Runs shell lines where `m/v.spv` is a mount of `v.spv`.
  private static func inNamespace(_ lines: String) throws -> Tool.Outcome {
    let home = try Scratch(in: Scratch.disk)
    try home.write(
      """
      export SECRETPREFS_VAULT=v.spv SECRETPREFS_KEY_FILE=k
      secretprefs init --key-file k
      printf old | secretprefs set key
      mkdir -m 700 m && install -m 600 /dev/null m/v.spv && mount --bind v.spv m/v.spv
      \(lines)
      """, to: "script")
    return try Tool.shell("unshare -m sh script", in: home)
  }

  /// Replaces the vault outside the mount.
  private static let replace = """
    secretprefs compact
    printf new | secretprefs set key
    SECRETPREFS_VAULT=m/v.spv

    """

  private static let words =
    "the mounted file was replaced outside the mount: values are as they were before, and writes are refused"

  @Test(arguments: [
    "get key", "list", "export", "run --only key -- sh -c 'printf $KEY'", "backup copy.spv", "verify", "slots list",
  ])
  func `each command that reads a vault which was replaced outside its mount warns of it`(_ command: String) throws {
    let outcome = try Self.inNamespace(Self.replace + "secretprefs \(command)")
    #expect(
      outcome.errorText.contains(
        "secretprefs: warning: \(Self.words); mount the directory instead of the single file\n"),
      "\(outcome.errorText)")
  }

  @Test func `what is read after a replacement outside the mount is still the old value`() throws {
    let outcome = try Self.inNamespace(Self.replace + "secretprefs get key")
    #expect(outcome.exit == 0)
    #expect(outcome.text == "old")
  }

  @Test(arguments: ["", " --report", " --json"])
  func `verify finds that the file was replaced outside its mount`(_ option: String) throws {
    let outcome = try Self.inNamespace(Self.replace + "secretprefs verify\(option)")
    #expect(outcome.exit == 1)
    switch option {
    case "": #expect(outcome.text.hasPrefix("verified: "))
    case " --report": #expect(outcome.text.contains("\nWrong: \(Self.words).\n\nNot known"))
    default: #expect(outcome.text.contains(#""tornTail":false,"frozen":true,"#))
    }
  }

  @Test func `a backup of a file that was replaced outside its mount is made, and is no success`() throws {
    let outcome = try Self.inNamespace(
      Self.replace + "secretprefs backup copy.spv --json; echo $?; secretprefs get key --vault copy.spv")
    #expect(outcome.text == #"{"backup":"copy.spv","tornTail":false,"frozen":true}"# + "\n1\nold")
    #expect(outcome.errorText.contains("the new copy was made, with an old state: \(Self.words)"))
  }

  @Test func `dated copies of a file that was replaced outside its mount push no older copy out`() throws {
    let outcome = try Self.inNamespace(
      """
      secretprefs backup copies/
      \(Self.replace)
      secretprefs backup copies/ --keep 1 >new; echo $?; ls copies | wc -l
      """)
    #expect(outcome.text.hasSuffix("\n1\n2\n"))
  }

  @Test func `the overview shows that the file was replaced outside its mount`() throws {
    let outcome = try Self.inNamespace(Self.replace + "secretprefs")
    #expect(outcome.exit == 0)
    #expect(outcome.text.contains(Self.words))
    #expect(outcome.text.contains("secretprefs doctor"))
  }

  @Test(arguments: [
    "compact", "rotate --vault-keys", "slots add --new-key-file l", "groups create g", "audit on",
    "backup restore copy.spv --yes",
  ])
  func `a write that replaces a mounted file says to mount the directory`(_ command: String) throws {
    let outcome = try Self.inNamespace(
      "secretprefs backup copy.spv; SECRETPREFS_VAULT=m/v.spv; secretprefs \(command) </dev/null")
    #expect(outcome.exit == 74, "\(outcome.errorText)")
    #expect(outcome.errorText.hasSuffix("secretprefs: hint: mount the directory instead of the single file\n"))
  }

  @Test func `doctor advises to mount the directory, and nothing that needs it`() throws {
    let outcome = try Self.inNamespace(
      """
      head -c 50000 /dev/zero > value
      for group in a b; do
        secretprefs groups create $group && secretprefs slots add --for-group $group --new-key-file $group >slot
      done
      for group in a b; do secretprefs set x --data --file value --group $group --key-file $group; done
      umount m/v.spv && mount --bind v.spv m/v.spv
      secretprefs doctor --json
      secretprefs doctor --json --vault m/v.spv
      """)
    let lines = outcome.text.split(separator: "\n")
    try #require(lines.count == 2, "\(outcome.text)\(outcome.errorText)")
    #expect(lines[0].contains(#""problem":"longJournal""#) && !lines[0].contains("mountedFile"))
    #expect(lines[1].contains(#""problem":"mountedFile","severity":"advice""#) && !lines[1].contains("longJournal"))
  }

  @Test func `a log that cannot be written says how it can be`() throws {
    let outcome = try Self.inNamespace(
      """
      mkdir -m 700 d && cp v.spv d && export SECRETPREFS_VAULT=d/v.spv && secretprefs audit on
      mount --bind d d && mount -o remount,ro,bind d
      secretprefs get key
      """)
    #expect(outcome.exit == 74)
    #expect(outcome.errorText.contains("the file system is read-only"))
    #expect(outcome.errorText.contains("or mount them writable; an owner's \"secretprefs audit off"))
  }

  @Test func `the mode of a key on a read-only file system is not for doctor to repair`() throws {
    let outcome = try Self.inNamespace(
      """
      mkdir n && cp k n && chmod 644 n/k && mount --bind n n && mount -o remount,ro,bind n
      secretprefs doctor --key-file n/k
      """)
    #expect(outcome.exit == 1)
    #expect(outcome.text.contains("repair: the file system is read-only, so its mount has to set the mode: 0400"))
    #expect(!outcome.text.contains("--repair permissions"))
  }

  @Test func `root's doctor on the vault of another user says to run as that user`() throws {
    let outcome = try Self.inNamespace(
      "mkdir -m 700 o && cp v.spv o && chown -R 65534 o; secretprefs doctor --vault o/v.spv")
    #expect(outcome.exit == 1)
    #expect(outcome.text.contains("the directory belongs to a different user\n         repair: run as its owner\n"))
  }
}
