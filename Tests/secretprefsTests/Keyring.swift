import Foundation
import Testing

/// Keyrings of the kernel, which some machines and containers do not have.
enum Keyring {
  static let story = "unlock.txt"

  static let isNeeded = ConditionTrait.enabled(if: isAvailable, "the kernel has no keyrings for this process")

  private static let isAvailable: Bool =
    (try? Scratch()).flatMap { try? session("exec secretprefs lock", in: $0) }?.exit == 0

  /// Runs a script of shell in a session keyring of its own.
  static func session(_ script: String, in home: Scratch, input: String = "/dev/null") throws -> Tool.Outcome {
    try start(script, in: home, input: input).wait()
  }

  /// - Parameter errno: with which the kernel refuses keys; 0 if it does not.
  static func start(_ script: String, in home: Scratch, input: String, refusing errno: Int32 = 0) throws -> Running {
    let launcher = Bundle.module.resourcePath! + "/Transcripts/keyring.pl"
    return try Running(
      ["/usr/bin/perl", launcher, "\(errno)", "/bin/sh", "-c", "ulimit -S -c 0; " + script], in: home, input: input)
  }
}
