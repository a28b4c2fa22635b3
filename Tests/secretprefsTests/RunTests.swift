import Foundation
import Testing

@testable import secretprefs

struct RunTests {
  /// A home with a key file `k` and the key `token`.
  static func prepared() throws -> Scratch {
    let home = try Scratch()
    let made = try Tool.shell(
      "secretprefs init --key-file k && printf CANARY-7f3a | secretprefs set token --key-file k", in: home)
    try #require(made.exit == 0, "\(made.errorText)")
    return home
  }

  /// Runs a script by `run`, in a shell line that may prepare something for it.
  private static func run(_ script: String, after line: String = "", in home: Scratch) throws -> Tool.Outcome {
    try home.write(script, to: "script")
    return try Tool.shell("\(line)\nexec secretprefs run --key-file k -- sh script", in: home)
  }

  @Test(.enabled(if: EditValueTests.inMemory))
  func `a directory in memory that cannot be examined is named with the cause`() throws {
    let outcome = try Tool.shell(
      "ulimit -n 4; exec secretprefs run --file A=token --key-file k -- true", in: try Self.prepared())
    #expect(outcome.exit == 74)
    #expect(outcome.errorText.contains("/dev/shm: open the directory: Too many open files\n"), "\(outcome.errorText)")
    #expect(!outcome.errorText.contains("mount a tmpfs"))
  }

  @Test(arguments: [0, 1, 2, 64, 73, 100, 125, 126, 127, 128, 143, 254, 255])
  func `the exit code is that of the command`(_ code: Int32) throws {
    #expect(try Self.run("exit \(code)", in: try Self.prepared()).exit == code)
  }

  @Test(arguments: [SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL, SIGUSR1, SIGSEGV, SIGPIPE, SIGTERM, SIGXFSZ])
  func `a signal that ends the command is seen from outside`(_ signal: Int32) throws {
    #expect(try Self.run("kill -\(signal) $$", in: try Self.prepared()).exit == 128 + signal)
  }

  @Test func `a signal to the process reaches the command, each of 100 times`() throws {
    let home = try Self.prepared()
    try home.write("trap 'kill $!; exit 7' TERM\nsleep 600 &\necho >ready\nwait\n", to: "script")
    let outcome = try Tool.shell(
      """
      mkfifo ready
      tries=0
      while [ $tries -lt 100 ]; do
        secretprefs run --key-file k -- sh script &
        read line <ready
        kill -TERM $!
        wait $!
        [ $? = 7 ] || exit 1
        tries=$((tries + 1))
      done
      echo $tries
      """, in: home)
    #expect(outcome.text == "100\n", "\(outcome.errorText)")
  }

  @Test func `the environment is the inherited one without the tool's variables, then the values`() throws {
    let home = try Self.prepared()
    let outcome = try Tool.shell(
      """
      vault=$PWD/.local/share/secretprefs/default.spv
      printf 'multi\\nline' | secretprefs set z --key-file k
      exec env -i B=1 TOKEN=old SECRETPREFS_VAULT=$vault A=2 SECRETPREFS_KEY_FILE=k SECRETPREFS_MARKX=x E= \
        "$(command -v secretprefs)" run -- /usr/bin/env -0
      """, in: home)
    #expect(outcome.text == "B=1\0A=2\0E=\0TOKEN=CANARY-7f3a\0Z=multi\nline\0")
    #expect(outcome.errorText.isEmpty)
  }

  @Test(arguments: ["", "trap '' QUIT PIPE INT XFSZ", "ulimit -S -c 0", "ulimit -S -c 7", "umask 027"])
  func `what the tool changes for itself is given back`(_ line: String) throws {
    let home = try Self.prepared()
    let script = "grep -E 'Sig(Blk|Ign|Cgt)|Umask' /proc/self/status; ulimit -S -c; ulimit -H -c"
    let command = try Self.run(script, after: line, in: home)
    let plain = try Tool.shell("\(line)\nexec sh script", in: home)
    #expect(plain.text.contains("SigIgn"))
    #expect(command.text == plain.text)
  }

  @Test func `the command has the descriptors that the tool was started with`() throws {
    let home = try Self.prepared()
    // Both from one shell, which inherits what other tests of the process have open. By device and inode, because other
    // tests rename and remove their files meanwhile.
    try home.write("stat -L -c '%n %d:%i' /proc/$$/fd/*", to: "script")
    let outcome = try Tool.shell(
      "exec <&- 5<k\nsh script; echo; exec secretprefs run --key-file k -- sh script", in: home)
    let lists = outcome.text.components(separatedBy: "\n\n").map { list in
      list.split(separator: "\n").map { $0.split(separator: "/").last }
    }
    #expect(lists.count == 2 && lists[0].contains { $0?.hasPrefix("5 ") ?? false })
    #expect(lists.first == lists.last)
  }

  @Test(arguments: ["3", "0"]) func `the command cannot read the passphrase again`(_ descriptor: String) throws {
    let home = try Scratch()
    try home.write("CANARY-7f3a", to: "p")
    let outcome = try Tool.shell(
      """
      secretprefs init --throwaway-cost --accept-weak --passphrase-fd 3 3<p
      printf x | secretprefs set key --passphrase-fd 3 3<p
      secretprefs run --passphrase-fd \(descriptor) \(descriptor)<p -- ls -l /proc/self/fd
      """, in: home)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text.contains(" 0 -> "))
    #expect(!outcome.text.contains("/p\n"))
  }

  @Test(arguments: ["", "--mask", "--file NAME=token", "--mask --file NAME=token"])
  func `the command has the descriptors that it has without the tool`(_ options: String) throws {
    let home = try Self.prepared()
    let outcome = try Tool.shell(
      """
      export SECRETPREFS_MARK=$PWD/mark
      secretprefs mark init --key-file k && secretprefs audit on --key-file k
      ls /proc/self/fd >plain 7<k
      secretprefs run --key-file k \(options) -- ls /proc/self/fd >run 7<k
      secretprefs run --key-file k \(options) -- find /proc/self/fd -lname '*/secretprefs-files-*' >folders 7<k
      cat run
      """, in: home)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let lists = try ["plain", "run", "folders"].map { name in
      try String(contentsOf: URL(filePath: home.file(name)), encoding: .utf8).split(separator: "\n").map(String.init)
    }
    // The lock of the folder of the files, so that it is not taken for abandoned while the command runs.
    let folders = lists[2].map { ($0 as NSString).lastPathComponent }
    #expect(folders.count == (options.contains("--file") ? 1 : 0))
    #expect(lists[1].count == lists[0].count + folders.count)
    #expect(Set(lists[1]).isSuperset(of: lists[0]))
    #expect(lists[0].contains("7"))
  }

  @Test(.enabled(if: getuid() == 0), arguments: [(0, "1777"), (0, "700"), (1000, "700"), (0, "777"), (0, "770")])
  func `files are made where no other user can exchange them`(_ owner: Int, _ mode: String) throws {
    let home = try Self.prepared()
    let name = "secretprefs-test-\(UUID().uuidString)"
    let outcome = try Tool.shell(
      """
      folder=/dev/shm/\(name); mkdir -p $folder/inner; chmod 700 $folder/inner
      chown \(owner) $folder; chmod \(mode) $folder
      for runtime in $folder $folder/inner; do
        XDG_RUNTIME_DIR=$runtime secretprefs run --key-file k --file A=token -- sh -c 'grep -q CANARY "$A" && echo "$A"'
      done
      rm -r $folder
      """, in: home)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let isSafe = owner == 0 && ["1777", "700"].contains(mode)
    let paths = outcome.text.split(separator: "\n")
    #expect(paths.count == 2 && paths.allSatisfy { $0.contains(name) == isSafe }, "\(outcome.text)")
  }

  @Test(arguments: ["", "--mask", "--file NAME=token"])
  func `the command finds its own number where systemd has named the tool, and other numbers stay`(
    _ options: String
  ) throws {
    let home = try Self.prepared()
    try home.write(
      "echo $((LISTEN_PID - $$)) $((SYSTEMD_EXEC_PID - $$)) $WATCHDOG_PID $LISTEN_FDS ${LISTEN_PIDFDID-none}",
      to: "script")
    let outcome = try Tool.shell(
      """
      export LISTEN_PID=$$ SYSTEMD_EXEC_PID=$$ WATCHDOG_PID=1 LISTEN_FDS=1 LISTEN_PIDFDID=5
      exec secretprefs run --key-file k \(options) -- sh script
      """, in: home)
    #expect(outcome.text == "0 0 1 1 \(options.isEmpty ? "5" : "none")\n", "\(outcome.errorText)")
  }

  private static let mayBeFirst =
    (try? Tool.shell("unshare --map-root-user --pid --fork --mount-proc true", in: try Scratch()).exit) == 0

  @Test(.enabled(if: mayBeFirst))
  func `as the first process of a container, the tool waits for what others leave behind`() throws {
    let home = try Self.prepared()
    try home.write(
      """
      (sleep 0.1 & echo $! >left)
      tries=0
      while [ -e /proc/$(cat left) ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || exit 9
        sleep 0.1
      done
      exit 7
      """, to: "script")
    let outcome = try Tool.shell(
      "exec unshare --map-root-user --pid --fork --mount-proc secretprefs run --mask --key-file k -- sh script",
      in: home)
    #expect(outcome.exit == 7, "\(outcome.errorText)")
  }

  @Test func `after a prompt the command has the signals and the terminal as they were`() throws {
    let scene = try PromptTests.Scene()
    let before = scene.terminal.mode
    let script = ["sed", "-n", "/^Sig[BIC]/p", "/proc/self/status"]
    let plain = try Running(script, in: scene.home, input: "/dev/null").wait()
    let running = try Running([Tool.path, "run", "--"] + script, in: scene.home, input: scene.terminal.path)
    try scene.terminal.wait(for: ": ")
    scene.terminal.type(PromptTests.passphrase + "\n")
    let command = try running.wait()
    #expect(plain.text.contains("SigCgt"))
    #expect(command.text == plain.text)
    #expect(scene.terminal.mode == before)
  }

  @Test(arguments: [
    ("token", "TOKEN"), ("db/password", "DB_PASSWORD"), ("a.b-c d=e", "A_B_C_D_E"), ("Käse", "K_SE"), ("2fa", "_2FA"),
    ("_x", "_X"), ("é", "_"), ("日本", "__"), ("ß", "_"), ("a__B", "A__B"), ("٣x", "_X"),
  ])
  func `a key gives one name`(_ key: String, _ name: String) {
    #expect(VariableName.derived(from: key) == name)
    #expect(VariableName.isValid(name))
  }

  @Test(arguments: [
    "LD_PRELOAD", "LD_X", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "PATH", "IFS", "PS4", "PROMPT_COMMAND",
    "SHELLOPTS", "BASHOPTS", "PYTHONPATH", "PERL5OPT", "RUBYOPT", "NODE_OPTIONS", "GCONV_PATH", "GLIBC_TUNABLES",
    "MALLOC_PERTURB_", "PYTHONSTARTUP", "BASH_FUNC_x", "JAVA_TOOL_OPTIONS", "GIT_SSH_COMMAND", "HOME",
    "GIT_CONFIG_COUNT", "LUA_INIT_5_4", "SECRETPREFS_PASSPHRASE", "SECRETPREFS_KEY_FILE", "_",
  ])
  func `a name that hooks a loader or a shell is refused`(_ name: String) throws {
    let home = try Self.prepared()
    for option in ["--env", "--file"] {
      let outcome = try Tool.run(["run", option, "\(name)=token", "--key-file", "k", "--", "env"], in: home)
      #expect(outcome.exit == 64)
      #expect(outcome.output.isEmpty)
    }
  }

  @Test func `a key whose variable is one that shells set is passed under another name alone`() throws {
    let home = try Self.prepared()
    try #require(Tool.run(["set", "ü", "--file", "k", "--key-file", "k"], in: home).exit == 0)
    for options in [[], ["--only", "ü"]] {
      let refused = try Tool.run(["run", "--key-file", "k"] + options + ["--", "env"], in: home)
      #expect(refused.exit == 64 && refused.output.isEmpty)
      #expect(refused.errorText.contains("\"ü\" (_)"), "\(refused.errorText)")
    }
    let named = try Tool.run(["run", "--env", "UE=ü", "--key-file", "k", "--", "printenv", "UE"], in: home)
    #expect(named.exit == 0, "\(named.errorText)")
  }

  @Test func `a key that is named twice is passed once`() throws {
    let home = try Self.prepared()
    let names = ["--only", "token", "--only", "token", "--only", "secret://default/token", "--env", "TOKEN=token"]
    let outcome = try Tool.run(["run", "--key-file", "k"] + names + ["--", "env"], in: home)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text.split(separator: "\n").filter { $0.hasPrefix("TOKEN=") } == ["TOKEN=CANARY-7f3a"])
    let both = ["--env", "A=token", "--file", "A=token"]
    #expect(try Tool.run(["run", "--key-file", "k"] + both + ["--", "env"], in: home).exit == 64)
  }

  @Test func `the files of a command outlive a tool that is killed, and a use after the command removes them`() throws {
    let home = try Self.prepared()
    let outcome = try Tool.shell(
      """
      mkfifo go
      secretprefs run --key-file k --file A=token -- sh -c 'echo $A >path; read x <go; echo >ended' &
      tool=$!
      while [ ! -s path ]; do sleep 0.05; done
      kill -9 $tool
      wait $tool
      secretprefs run --key-file k --file B=token -- true
      cat $(cat path) && echo
      echo >go
      for n in $(seq 600); do
        [ ! -e ended ] || secretprefs run --key-file k --file B=token -- true
        [ -e $(dirname $(cat path)) ] || break
        sleep 0.1
      done
      [ -e $(dirname $(cat path)) ] || echo removed
      """, in: home)
    #expect(outcome.text == "CANARY-7f3a\nremoved\n", "\(outcome.errorText)")
  }

  @Test(arguments: ["", "--mask"])
  func `the files of a command outlive its parent that is killed, which is said, and a use after it removes them`(
    _ option: String
  ) throws {
    let home = try Self.prepared()
    try home.write("echo $A >path; kill -KILL $PPID; read x <go; cat $A >value; echo >ended", to: "script")
    let outcome = try Tool.shell(
      """
      mkfifo go
      secretprefs run --key-file k \(option) --file A=token -- sh script; echo $?
      echo >go
      for n in $(seq 600); do [ ! -e ended ] || break; sleep 0.1; done
      cat value && echo
      for n in $(seq 600); do
        secretprefs run --key-file k --file B=token -- true
        [ -e $(dirname $(cat path)) ] || break
        sleep 0.1
      done
      [ -e $(dirname $(cat path)) ] || echo removed
      """, in: home)
    #expect(outcome.text == "74\nCANARY-7f3a\nremoved\n", "\(outcome.errorText)")
    #expect(
      outcome.errorText == """
        secretprefs: error: the process that waits for the command was killed; the command may still run
        secretprefs: hint: the next "secretprefs run" removes its files after it has ended

        """)
  }
}
