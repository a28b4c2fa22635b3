import Foundation
import Glibc

/// An access control list for the user 1, whose mask looks like a right of the group: `setfacl -m u:1:r` (acl(5)).
package enum AccessList {
  private typealias Set =
    @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer, Int, Int32) -> CInt
  private typealias Get =
    @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer, Int) -> Int

  private static let name = "system.posix_acl_access"

  /// - Parameter mask: the rights of the mask.
  package static func bytes(mask: UInt8 = 4) -> [UInt8] {
    [
      2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 4, 0, 1, 0, 0, 0, 4, 0, 0, 0, 255, 255, 255, 255, 16, 0, mask,
      0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255,
    ]
  }

  /// Whether files in the folder for temporary files can have a list.
  package static let isSupported: Bool = {
    let path = NSTemporaryDirectory() + "access-list-" + UUID().uuidString
    defer { unlink(path) }
    return FileManager.default.createFile(atPath: path, contents: nil) && isSet(on: path)
  }()

  /// Gives a file the list. Glibc's module has no function for that.
  package static func isSet(on path: String) -> Bool {
    guard let function = dlsym(nil, "setxattr") else { return false }
    return unsafeBitCast(function, to: Set.self)(path, name, bytes(), bytes().count, 0) == 0
  }

  /// The list of a file; empty if it has none, or cannot be read.
  package static func of(_ path: String) -> [UInt8] {
    guard let function = dlsym(nil, "getxattr") else { return [] }
    var list = [UInt8](repeating: 0, count: 1024)
    let count = unsafeBitCast(function, to: Get.self)(path, name, &list, list.count)
    return Array(list.prefix(max(count, 0)))
  }
}
