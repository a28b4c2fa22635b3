internal import DurableFiles

/// Checks for passphrases on inherited descriptors (`--passphrase-fd` and similar options).
enum PassphraseDescriptor {
  /// Checks that the descriptor is open, before this process opens a file that could get the same number. No program
  /// that this process starts can read the passphrase from it.
  static func check(_ number: Int32, of option: StaticString = "--passphrase-fd") throws(ToolError) -> Int32 {
    guard number >= 0, fcntl(number, F_GETFD) != -1 else {
      throw .usage("\(option) does not name an open descriptor", hint: "\(option) 3 3< passphrase.txt")
    }
    // A terminal would echo the passphrase, and reading would not stop at the end of the line.
    guard isatty(number) == 0 else {
      throw .usage("\(option) names a terminal", hint: "omit the option for a prompt without echo")
    }
    // The standard descriptors are needed, or replaced.
    guard number <= STDERR_FILENO || fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else {
      throw .internal("close the passphrase's descriptor", errno)
    }
    return number
  }

  /// Keeps a descriptor from the program that replaces this process, which could read the passphrase again: a standard
  /// descriptor becomes `/dev/null`.
  static func withhold(_ number: Int32) throws(ToolError) {
    guard number <= STDERR_FILENO else { return }
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    guard null >= 0, dup2(null, number) == number else { throw .internal("close the passphrase's descriptor", errno) }
    close(null)
  }

  /// Checks that every passphrase has its own descriptor, because each one is read to its end.
  static func checkDistinct(_ numbers: [Int32]) throws(ToolError) {
    guard Set(numbers).count == numbers.count else {
      throw .usage("two passphrases have the same descriptor", hint: "use two descriptors: 3< old.txt 4< new.txt")
    }
  }
}
