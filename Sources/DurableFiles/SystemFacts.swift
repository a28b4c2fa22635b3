/// Milliseconds since 1970-01-01 UTC.
package func systemMilliseconds() -> Int64 {
  var now = timespec()
  unsafe clock_gettime(CLOCK_REALTIME, &now)
  return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
}

/// Milliseconds since the machine was started, including the time it slept. This clock cannot be set.
package func bootMilliseconds() -> Int64 {
  var now = timespec()
  unsafe clock_gettime(CLOCK_BOOTTIME, &now)
  return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
}

/// The memory that this process may use, in KiB: the machine's memory, or the least limit of its control group and of
/// those above it if that is lower.
///
/// - Parameters:
///   - membership: the file that names the control groups of this process.
///   - groups: the folder of all control groups.
package func availableKibibytes(
  membership: String = "/proc/self/cgroup", groups: String = "/sys/fs/cgroup"
) -> UInt64 {
  let machine = UInt64(max(sysconf(Int32(_SC_PHYS_PAGES)), 0)) * UInt64(max(sysconf(Int32(_SC_PAGESIZE)), 0)) / 1024
  let lines = String(decoding: smallFile(membership, atMost: 16_384), as: UTF8.self).split(separator: "\n")
  let limits =
    memoryLimits("memory.max", groups, ownGroup(lines, of: ""))
    + memoryLimits("memory.limit_in_bytes", groups + "/memory", ownGroup(lines, of: "memory"))
  return limits.reduce(machine) { min($0, $1 / 1024) }
}

/// The path of this process's control group: in version 1 that of a controller, in version 2 that of none. Empty if it
/// is not named.
private func ownGroup(_ lines: [Substring], of controller: Substring) -> Substring {
  for line in lines {
    let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3 else { continue }
    if fields[1].split(separator: ",", omittingEmptySubsequences: false).contains(controller) { return fields[2] }
  }
  return ""
}

/// The limits of a control group and of those above it up to the root, in bytes. A group whose folder is not there, as
/// in some containers, has none.
private func memoryLimits(_ file: String, _ root: String, _ group: Substring) -> [UInt64] {
  var names = group.split(separator: "/")
  var limits: [UInt64] = []
  while true {
    let folder = names.reduce(root) { "\($0)/\($1)" }
    if let limit = smallNumber("\(folder)/\(file)") { limits.append(limit) }
    guard names.popLast() != nil else { return limits }
  }
}

/// The boot id, which changes at each start of the machine: 36 characters; `nil` if the system has none.
package func bootIdentifier() -> [UInt8]? {
  let bytes = smallFile("/proc/sys/kernel/random/boot_id").prefix { $0 > 0x20 }
  return bytes.count == 36 ? Array(bytes) : nil
}

/// The file name of this process's program; `nil` if the system does not provide it.
package func programName() -> String? { PathName.resolved("/proc/self/exe").map(PathName.last) }

/// The number in a small system file; `nil` if it has none ("max" means no limit).
private func smallNumber(_ path: String) -> UInt64? {
  UInt64(String(decoding: smallFile(path).prefix { $0 >= 0x30 && $0 <= 0x39 }, as: UTF8.self))
}

/// The first bytes of a small system file; empty if it cannot be read.
private func smallFile(_ path: String, atMost limit: Int = 64) -> ArraySlice<UInt8> {
  let raw = retrying { unsafe open(path, O_RDONLY | O_CLOEXEC) }
  guard raw >= 0 else { return [] }
  defer { close(raw) }
  var bytes = [UInt8](repeating: 0, count: limit)
  let count = retrying { unsafe read(raw, &bytes, bytes.count) }
  return bytes[..<max(count, 0)]
}
