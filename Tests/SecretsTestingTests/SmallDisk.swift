import Foundation
import Glibc

/// A file system of 256 KiB in memory, unmounted with the last reference. Mounting needs privileges.
final class SmallDisk {
  struct Refused: Error { let errno: Int32 }

  let path: String

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "small-disk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    path = folder.path
    guard mount("tmpfs", path, "tmpfs", 0, "size=256k,mode=700") == 0 else {
      let number = errno
      rmdir(path)
      throw Refused(errno: number)
    }
  }

  deinit {
    umount2(path, Int32(MNT_DETACH))
    rmdir(path)
  }

  /// Whether this process may mount a file system.
  static let isAvailable = (try? SmallDisk()) != nil

  /// Writes zeros until there is no room.
  func fill() throws {
    let file = open(path + "/filler", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Refused(errno: errno) }
    defer { close(file) }
    let zeros = [UInt8](repeating: 0, count: 4096)
    while write(file, zeros, zeros.count) > 0 {}
    guard errno == ENOSPC else { throw Refused(errno: errno) }
  }
}
