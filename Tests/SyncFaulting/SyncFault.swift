import Glibc

/// Replaces `fsync` and `fdatasync` in the program of the tests, so that a test can do something when a file or folder
/// is synced.
public enum SyncFault {
  /// Called before each sync by the thread that makes it. Returns the `errno` to fail with, or `nil` to sync.
  @TaskLocal private static var handler: (@Sendable (_ descriptor: Int32) -> Int32?)?

  /// Runs `body` with a handler for the syncs of this thread.
  public static func with<R>(
    _ handler: @escaping @Sendable (_ descriptor: Int32) -> Int32?, during body: () throws -> R
  ) rethrows -> R {
    try $handler.withValue(handler, operation: body)
  }

  fileprivate typealias Sync = @Sendable @convention(c) (Int32) -> Int32

  fileprivate static let fsync = unsafeBitCast(dlsym(UnsafeMutableRawPointer(bitPattern: -1), "fsync"), to: Sync.self)
  fileprivate static let fdatasync = unsafeBitCast(
    dlsym(UnsafeMutableRawPointer(bitPattern: -1), "fdatasync"), to: Sync.self)

  fileprivate static func sync(_ descriptor: Int32, _ real: Sync) -> Int32 {
    guard let error = handler?(descriptor) else { return real(descriptor) }
    errno = error
    return -1
  }

  public static func isDirectory(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}

@_cdecl("fsync") func replacedSync(_ descriptor: Int32) -> Int32 { SyncFault.sync(descriptor, SyncFault.fsync) }
@_cdecl("fdatasync") func replacedDataSync(_ descriptor: Int32) -> Int32 {
  SyncFault.sync(descriptor, SyncFault.fdatasync)
}
