internal import CDurableFiles

/// A key in a keyring of the kernel. Only Linux has such keys.
///
/// If the kernel refuses, an operation returns `nil` or `false`, with `errno`.
package struct KernelKey: Sendable {
  /// Where a key is.
  package enum Keyring: String, Sendable, CaseIterable {
    /// A login has its own, which ends with it. Processes of a user that have no session keyring share one.
    case session
    /// That of the user of this process, whatever its session. It stays until the system restarts.
    case user

    /// Its serial number; -1 if the kernel refuses.
    fileprivate var serial: Int32 {
      switch self {
      case .session: cfiles_session_keyring()
      case .user: cfiles_user_keyring()
      }
    }

    /// Whether the kernel provides it.
    package var isAvailable: Bool { serial > 0 }
  }

  private let serial: Int32

  /// Whether the session keyring is the one that processes without a session keyring share.
  package static var areShared: Bool { cfiles_session_keyring() == cfiles_shared_keyring() }

  /// Finds the key with this description.
  package init?(_ description: String, in keyring: Keyring) {
    // That of the session needs no serial number: `get` makes one call less.
    let place = keyring == .session ? 0 : keyring.serial
    guard place >= 0 else { return nil }
    serial = unsafe cfiles_find_key(place, description)
    guard serial > 0 else { return nil }
  }

  private init(_ serial: Int32) { self.serial = serial }

  /// The keys in a keyring whose description begins with `start`; `nil` if the kernel refuses to list them.
  package static func all(beginningWith start: String, in keyring: Keyring) -> [KernelKey]? {
    let keyring = keyring.serial
    guard keyring > 0 else { return nil }
    var serials = [Int32](repeating: 0, count: 64)
    while true {
      let count = unsafe cfiles_list_keys(keyring, &serials, serials.count)
      guard count >= 0 else { return nil }
      if count <= serials.count {
        return serials[..<count].map { KernelKey($0) }.filter { $0.description?.hasPrefix(start) == true }
      }
      serials = [Int32](repeating: 0, count: count + 8)
    }
  }

  /// `nil` for a key that has expired, or that this process may not view.
  private var description: String? {
    // The longest description, and what is in front of it.
    var text = [CChar](repeating: 0, count: 4096 + 64)
    guard unsafe cfiles_describe_key(serial, &text, text.count) > 0 else { return nil }
    let parts = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.split(
      separator: UInt8(ascii: ";"), maxSplits: 4, omittingEmptySubsequences: false)
    return parts.count == 5 ? String(decoding: parts[4], as: UTF8.self) : nil
  }

  /// Stores a key that only processes whose keyrings lead to it can read, in place of one with the same description.
  /// Other processes find the key only after its permissions and its timeout are set.
  ///
  /// - Parameter isRenewable: whether these processes may change the timeout: ``expire(after:)``.
  /// - Returns: `false` if nothing was stored.
  package static func store(
    _ payload: UnsafeRawBufferPointer, as description: String, in keyring: Keyring, seconds: UInt32, isRenewable: Bool
  ) -> Bool {
    let keyring = keyring.serial
    guard keyring > 0, let start = payload.baseAddress else { return false }
    // Until the last step the key is in the keyring of this process only, so that a key without a timeout ends with the
    // process.
    let key = unsafe cfiles_add_key(description, start, payload.count)
    return key > 0 && cfiles_expire_key(key, seconds) == 0 && cfiles_restrict_key(key, isRenewable ? 1 : 0) == 0
      && cfiles_link_key(key, keyring) == 0
  }

  /// Reads the key. Returns its length, which may be more than that of `payload`, of which nothing is known then; `nil`
  /// if the kernel refuses.
  package func read(into payload: UnsafeMutableRawBufferPointer) -> Int? {
    let count = unsafe cfiles_read_key(serial, payload.baseAddress!, payload.count)
    return count < 0 ? nil : count
  }

  /// Lets the key expire after `seconds` on the clock of the system. The kernel refuses if the key is not renewable.
  @discardableResult
  package func expire(after seconds: UInt32) -> Bool { cfiles_expire_key(serial, seconds) == 0 }

  /// Removes the key from every keyring. The kernel wipes it.
  package func remove() -> Bool { cfiles_invalidate_key(serial) == 0 }
}
