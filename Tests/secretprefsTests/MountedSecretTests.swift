import Foundation
import Testing

private let mayMount: Bool = {
  guard geteuid() == 0, let home = try? Scratch() else { return false }
  return (try? Tool.shell("unshare -m mount -t tmpfs tmpfs \(home.path)", in: home).exit) == 0
}()

private let kubernetes =
  "mkdir m/..2026_11_22 && install -m 644 k m/..2026_11_22/key && ln -s ..2026_11_22 m/..data && ln -s ..data/key m/key"

/// Key files as Kubernetes and Docker mount them. `Scripts/faults/mounts` tries more of what is refused.
@Suite(.enabled(if: mayMount, "it takes root and a mount namespace of one's own"))
struct MountedSecretTests {}

extension MountedSecretTests {
  /// Runs a shell line where `m` is a tmpfs with the vault's key in it.
  private static func inNamespace(_ line: String) throws -> Tool.Outcome {
    let home = try Scratch(in: Scratch.disk)
    return try Tool.shell(
      """
      unshare -m sh -ec '
        secretprefs init --vault v.spv --key-file k
        printf value | secretprefs set key --vault v.spv --key-file k
        mkdir m && mount -t tmpfs -o mode=1777 tmpfs m
        \(line)
      '
      """, in: home)
  }

  private static let get = "secretprefs get key --vault v.spv --key-file m/key"

  @Test func `a secret of Kubernetes opens the vault`() throws {
    let outcome = try Self.inNamespace("\(kubernetes); mount -o remount,ro m; \(Self.get)")
    #expect(outcome.text == "value")
    #expect(outcome.errorText == "")
  }

  @Test func `a secret of Docker opens the vault`() throws {
    // One file, mounted into a directory of root's.
    let outcome = try Self.inNamespace(
      """
      install -m 444 k m/key; mount -o remount,ro m; mkdir -m 755 secrets; : > secrets/key
      mount --bind m/key secrets/key; secretprefs get key --vault v.spv --key-file secrets/key
      """)
    #expect(outcome.text == "value")
  }

  @Test func `doctor finds nothing wrong with a mounted secret, and leaves it alone`() throws {
    let outcome = try Self.inNamespace(
      """
      \(kubernetes); mount -o remount,ro m
      secretprefs doctor --vault v.spv --key-file m/key --json
      secretprefs doctor --vault v.spv --key-file m/key --repair permissions
      """)
    #expect(!outcome.text.contains("keyFileMode"))
    #expect(outcome.text.hasSuffix("nothing to repair\n"))
  }

  @Test(arguments: [
    ("writable mount", "\(kubernetes)"),
    ("group may write", "\(kubernetes); chmod 664 m/..data/key; mount -o remount,ro m"),
    ("of another user", "\(kubernetes); chown 65534 m/..data/key; mount -o remount,ro m"),
    ("directory of another user", "\(kubernetes); chown 65534 m; mount -o remount,ro m"),
    ("a link that leads out", "mkdir n; install -m 644 k m/k; ln -s ../m/k n/key; mount -o remount,ro m; set -- n/key"),
    ("a disk", "mkdir n; install -m 644 k n/key; mount --bind n n; mount -o remount,bind,ro n; set -- n/key"),
  ])
  func `a key that others may read is refused in any other place`(_ place: String, _ line: String) throws {
    let outcome = try Self.inNamespace(
      "set -- m/key; \(line); secretprefs get key --vault v.spv --key-file $1")
    #expect(outcome.exit == 74)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errorText.contains("/key"))
  }
}
