/// The names of the variables of `run`.
enum VariableName {
  /// The name for a key: ASCII letters in upper case, `_` for every character except ASCII letters and digits, and
  /// `_` in front of a digit.
  static func derived(from key: String) -> String {
    var name = ""
    for scalar in key.unicodeScalars {
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9": name += String(scalar).uppercased()
      default: name += "_"
      }
    }
    return name.first?.isNumber == true ? "_" + name : name
  }

  /// Why `run` does not pass a key with all others; `nil` if it does.
  static func note(on key: String) -> String? {
    let name = derived(from: key)
    if isReserved(name) {
      return "programs read the variable \(name) as a setting: \"secretprefs run\" passes this key only under a "
        + "different name (--env)"
    }
    guard ProgramVariables.contains(name) else { return nil }
    return "programs read the variable \(name) as a setting: \"secretprefs run\" passes this key only if it is chosen "
      + "(--only or --env)"
  }

  /// The same for a key that a command stores. `nil` if the key exists: once is enough, because a script stores new
  /// values under the same key.
  ///
  /// - Parameter exists: Whether the key exists. Asked only if there is a note.
  static func note(onNew key: String, exists: () throws -> Bool) rethrows -> String? {
    guard let note = note(on: key), try !exists() else { return nil }
    return note
  }

  /// Whether shells accept the name.
  static func isValid(_ name: String) -> Bool {
    guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39, 0x5F: true
      default: false
      }
    }
  }

  /// Whether a value under this name may make a program run other code, or unlock a vault. Never allowed. The list has
  /// the names that most programs obey; ``ProgramVariables`` has others, which a caller may choose.
  static func isReserved(_ name: String) -> Bool {
    reserved.contains(name) || reservedPrefixes.contains { name.hasPrefix($0) }
  }

  /// Whether programs read the name as a setting. Some of them read such names in small letters, and zsh has PATH as
  /// path, too.
  static func isSetting(_ name: String) -> Bool {
    isReserved(name.uppercased()) || ProgramVariables.contains(name.uppercased())
  }

  private static let reservedPrefixes = [
    "LD_", "DYLD_", "MALLOC_", "BASH_FUNC_", "GIT_CONFIG", "LUA_INIT", "CORECLR_", "SWIFT_BACKTRACE", "SECRETPREFS_",
  ]

  private static let reserved = Set([
    // The C library: its list of variables that it ignores for set-user-ID programs, and more.
    "GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "HOSTALIASES", "LOCALDOMAIN", "LOCPATH", "NIS_PATH", "NLSPATH",
    "RESOLV_HOST_CONF", "RES_OPTIONS", "TMPDIR", "TZDIR", "TERMCAP", "TERMINFO", "TERMINFO_DIRS",
    // Shells. They set "_" for each command.
    "_", "BASHOPTS", "BASH_ENV", "CDPATH", "ENV", "FPATH", "HOME", "IFS", "INPUTRC", "PATH", "PROMPT_COMMAND", "PS0",
    "PS1", "PS2", "PS4", "SHELL", "SHELLOPTS", "ZDOTDIR",
    // Interpreters and virtual machines.
    "BUN_OPTIONS", "CLASSPATH", "DOTNET_STARTUP_HOOKS", "ELIXIR_ERL_OPTIONS", "ERL_AFLAGS", "ERL_FLAGS", "ERL_ZFLAGS",
    "JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "LUA_CPATH", "LUA_PATH", "NODE_OPTIONS",
    "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "PERL5DB", "PERL5LIB", "PERL5OPT", "PERLLIB", "PHPRC",
    "PHP_INI_SCAN_DIR", "PYTHONBREAKPOINT", "PYTHONEXECUTABLE", "PYTHONHOME", "PYTHONINSPECT", "PYTHONPATH",
    "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONWARNINGS", "RUBYLIB",
    "RUBYOPT", "RUBYSHELL",
    // Programs that other programs start, and libraries that they load.
    "BROWSER", "EDITOR", "GIT_ASKPASS", "GIT_EDITOR", "GIT_EXEC_PATH", "GIT_EXTERNAL_DIFF", "GIT_PAGER",
    "GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_TEMPLATE_DIR", "GNUMAKEFLAGS",
    "LESSCLOSE", "LESSOPEN", "MAKEFILES", "MAKEFLAGS", "MANPAGER", "OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES",
    "PAGER", "SSH_ASKPASS", "SSLKEYLOGFILE", "SUDO_ASKPASS", "SUDO_EDITOR", "VISUAL",
  ])
}
