internal import Glibc
internal import VaultSealing

/// What the system allows programs that hold secrets. Comes last: what could not be locked in memory is counted on the
/// way.
struct ProcessExamination {
  let problems: [Problem]

  init() throws {
    var problems: [Problem] = []
    _ = try SecretBytes(count: 1)
    let count = GuardedMemory.unlockedBlocks
    if count > 0 {
      problems.append(
        Problem(
          .warning, "memoryLimit",
          "\(counted(count, "block", "blocks")) of secrets could not be locked in memory, and may reach swap",
          repair: "raise the limit: ulimit -l, or LimitMEMLOCK= of the service"))
    }
    if ProcessHardening.othersHaveCores {
      problems.append(
        Problem(
          .advice, "coreFiles", "programs that are started here leave core files, with what they have read",
          repair: "ulimit -c 0, or LimitCORE=0 of the service"))
    }
    self.problems = problems
  }
}
