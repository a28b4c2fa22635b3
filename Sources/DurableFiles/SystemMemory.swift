internal import CDurableFiles

/// Makes the pages that hold `count` bytes zero in a forked child; `false` where the system cannot.
@discardableResult
package func wipeOnFork(_ start: UnsafeMutableRawPointer, _ count: Int) -> Bool {
  let before = Int(bitPattern: start) % Int(getpagesize())
  return unsafe cfiles_wipe_on_fork(start - before, before + count) == 0
}

/// Fills `buffer` from the system's generator. Returns `false`, with `errno`, if the system provides no random bytes.
package func fillWithRandomBytes(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
  for start in stride(from: 0, to: buffer.count, by: 256) {  // the maximum of one call
    let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[start..<min(start + 256, buffer.count)])
    guard unsafe cfiles_random(part.baseAddress!, part.count) == 0 else { return false }
  }
  return true
}
