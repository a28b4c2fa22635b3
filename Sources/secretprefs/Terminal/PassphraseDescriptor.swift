internal import Glibc

/// A passphrase on an inherited descriptor (`--passphrase-fd` and its kind).
enum PassphraseDescriptor {
  /// Checks the number before anything of ours can have it.
  static func check(_ number: Int32, of option: StaticString = "--passphrase-fd") throws(ToolError) -> Int32 {
    guard number >= 0, fcntl(number, F_GETFD) != -1 else {
      throw .usage("\(option) names no open descriptor", hint: "\(option) 3 3< passphrase.txt")
    }
    // It would echo, and be read to its end.
    guard isatty(number) == 0 else {
      throw .usage("\(option) names a terminal", hint: "leave the option out to be asked without echo")
    }
    return number
  }

  /// Checks that passphrases which are read one after the other have a descriptor each: the first is read to its end.
  static func checkDistinct(_ numbers: [Int32]) throws(ToolError) {
    guard Swift.Set(numbers).count == numbers.count else {
      throw .usage("one descriptor is named for two passphrases", hint: "give each its own: 3< old.txt 4< new.txt")
    }
  }
}
