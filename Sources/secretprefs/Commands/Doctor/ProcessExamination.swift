internal import DurableFiles
internal import VaultSealing

/// Checks the system's limits for programs that hold secrets. Runs last, because the other checks allocate guarded
/// memory and count the blocks that could not be locked.
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
          "\(counted(count, "block", "blocks")) of secret memory could not be locked and may be swapped out",
          repair: "raise the limit with ulimit -l, or LimitMEMLOCK= in the service"))
    }
    if ProcessHardening.inheritedLimitAllowsCores {
      problems.append(
        Problem(
          .advice, "coreFiles", "programs started here may leave core files, which contain the secrets they have read",
          repair: "ulimit -c 0, or LimitCORE=0 in the service"))
    }
    self.problems = problems
  }
}
