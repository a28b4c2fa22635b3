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

/// The memory that this process may use, in KiB: the machine's memory, or the limit of the control group if it is
/// lower.
package func availableKibibytes() -> UInt64 {
  let machine = UInt64(max(sysconf(Int32(_SC_PHYS_PAGES)), 0)) * UInt64(max(sysconf(Int32(_SC_PAGESIZE)), 0)) / 1024
  let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"].compactMap { path in
    smallNumber(path).map { $0 / 1024 }
  }
  return limits.reduce(machine, min)
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
private func smallFile(_ path: String) -> ArraySlice<UInt8> {
  let raw = retrying { unsafe open(path, O_RDONLY | O_CLOEXEC) }
  guard raw >= 0 else { return [] }
  defer { close(raw) }
  var bytes = [UInt8](repeating: 0, count: 64)
  let count = retrying { unsafe read(raw, &bytes, bytes.count) }
  return bytes[..<max(count, 0)]
}
