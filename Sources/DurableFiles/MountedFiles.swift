internal import CDurableFiles

/// Opens the file that `path` leads to from `directory`, without reading it. Links are followed within the directory
/// only. Returns a descriptor, or -1 and `errno`, also where the system has no such call.
package func openBeneath(_ directory: Int32, _ path: String) -> Int32 { unsafe cfiles_open_beneath(directory, path) }

/// Whether the file is on a file system in memory (tmpfs, ramfs); `nil`, with `errno`, if that cannot be examined.
package func isOnMemoryFileSystem(_ descriptor: Int32) -> Bool? {
  let answer = cfiles_is_in_memory(descriptor)
  return answer < 0 ? nil : answer != 0
}

/// Whether something is mounted at this name in the directory. `false` if the system does not tell.
package func isMountPoint(_ name: String, in directory: String) -> Bool {
  unsafe cfiles_is_mount_point(directory, name) != 0
}
