/// A name or path, quoted for a shell if necessary.
func shellWord(_ name: String) -> String {
  let isPlain =
    !name.isEmpty
    && name.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || "-_./,".utf8.contains(byte)
    }
  return isPlain ? name : "'\(displayed(name).replacing("'", with: "'\\''"))'"
}

/// The key as the last argument of a command for a shell, which no program takes for an option.
func shellKey(_ key: String) -> String { (key.utf8.first == UInt8(ascii: "-") ? "-- " : "") + shellWord(key) }

/// The path as a word of a command for a shell, which no program takes for an option.
func shellPath(_ path: String) -> String { shellWord(path.utf8.first == UInt8(ascii: "-") ? "./\(path)" : path) }
