internal import CDurableFiles

/// A file that exists only in memory and has no name. Only Linux has such files.
extension Descriptor {
  /// Creates a file with `content`, sealed against every change, that only its owner can open.
  ///
  /// - Parameters:
  ///   - name: a name for error messages and debuggers, not a path.
  ///   - refusal: returns the error for `errno`.
  package static func sealed(
    _ content: RawSpan, named name: String, refusal: (Int32) -> Failure
  ) throws(Failure) -> Descriptor {
    var raw = unsafe cfiles_memory_file(name, 1)
    if raw < 0, errno == EINVAL { raw = unsafe cfiles_memory_file(name, 0) }  // before Linux 6.3
    guard raw >= 0 else { throw refusal(errno) }
    let file = Descriptor(raw, name)
    // Written at an offset, because that leaves the position for reading at the start.
    try file.write(content, at: 0)
    guard fchmod(raw, 0o400) == 0, cfiles_seal(raw) == 0 else { throw refusal(errno) }
    return file
  }
}
