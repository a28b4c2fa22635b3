import DurableFiles
import Foundation
import Testing

@testable import secretprefs

/// `run --mask` without a terminal.
struct MaskTests {
  static func run(_ script: String, _ redirections: String = "", in home: Scratch) throws -> Tool.Outcome {
    try home.write(script, to: "script")
    return try Tool.shell("secretprefs run --mask --key-file k -- sh script \(redirections)", in: home)
  }

  @Test func `standard output and standard error are masked apart from each other, byte for byte`() throws {
    let home = try RunTests.prepared()
    try home.write("in CANARY-7f3", to: "input")
    let outcome = try Self.run(
      "printf 'a%s\\377\\000' $TOKEN; printf 'b%s' $TOKEN >&2; cat; printf .$TOKEN | tail -c 11 | base64 -w 7",
      "< input", in: home)
    #expect(outcome.output == Data("a***********".utf8) + [0xFF, 0] + Data("in CANARY-7f3*******\n*******\nE=\n".utf8))
    #expect(outcome.errorText == "b***********")
  }

  /// Where the system does not tell that two descriptors are one open file, those of a file that is not appended to
  /// have no order.
  private static var redirections: [String] {
    let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let isTold = ChildProcess.haveOneOrder(descriptor, descriptor)
    return ["2>&1 | cat", ">>both 2>&1; cat both", ">>both 2>>both; cat both"]
      + (isTold ? [">both 2>&1; cat both"] : [])
  }

  @Test(arguments: redirections)
  func `standard output and standard error that are one pipe or file keep their order`(
    _ redirections: String
  ) throws {
    let script = "for n in 1 2 3 4 5 6 7 8 9; do echo out $n $TOKEN; echo error $n $TOKEN >&2; done"
    let outcome = try Self.run(script, redirections, in: try RunTests.prepared())
    #expect(outcome.text == (1...9).map { "out \($0) ***********\nerror \($0) ***********\n" }.joined())
  }

  @Test(arguments: [0, 1, 42, 127, 143, 255]) func `the exit code is that of the command`(_ code: Int32) throws {
    #expect(try Self.run("exit \(code)", in: try RunTests.prepared()).exit == code)
  }

  @Test(arguments: [SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL, SIGUSR1, SIGSEGV, SIGPIPE, SIGTERM, SIGXFSZ])
  func `a signal that ends the command ends the tool`(_ signal: Int32) throws {
    let home = try RunTests.prepared()
    try home.write("kill -\(signal) $$", to: "script")
    // Not through a shell, which would turn the signal into a code.
    let running = try Running(
      [Tool.path, "run", "--mask", "--key-file", "k", "--", "sh", "script"], in: home, input: "/dev/null")
    #expect(try running.wait().exit == 128 + signal)
  }

  @Test(arguments: ["TERM", "HUP", "QUIT", "ABRT", "USR1"])
  func `a signal to the process reaches the command once, each of 50 times`(_ signal: String) throws {
    let home = try RunTests.prepared()
    try home.write("trap 'kill $!; echo x >>got; exit 7' \(signal)\nsleep 600 &\necho >ready\nwait\n", to: "script")
    // env: a shell starts what runs in the background with SIGQUIT ignored, and a shell cannot catch it then.
    let outcome = try Tool.shell(
      """
      mkfifo ready
      tries=0
      while [ $tries -lt 50 ]; do
        env --default-signal=QUIT secretprefs run --mask --key-file k -- sh script &
        read line <ready
        kill -\(signal) $!
        wait $!
        [ $? = 7 ] || exit 1
        tries=$((tries + 1))
      done
      wc -l <got
      """, in: home)
    #expect(outcome.text == "50\n", "\(outcome.errorText)")
  }

  @Test func `what the tool changes for itself is given back`() throws {
    let home = try RunTests.prepared()
    let script =
      "grep -E 'Sig(Blk|Ign|Cgt)|Umask' /proc/self/status; ulimit -S -c; ls -l /proc/self/fd | grep -c -- '->'"
    try home.write(script, to: "script")
    // One shell for both, because a test process opens and closes descriptors all the time.
    let outcome = try Tool.shell(
      "sh script >plain; secretprefs run --mask --key-file k -- sh script >masked; diff plain masked && cat plain",
      in: home)
    #expect(outcome.text.contains("SigIgn"))
    #expect(outcome.exit == 0, "\(outcome.text)")
  }

  @Test func `output that cannot be written is an error, and a reader that leaves is the command's end`() throws {
    let home = try RunTests.prepared()
    let full = try Self.run("echo x", ">/dev/full", in: home)
    #expect(full.exit == 74)
    #expect(full.errorText == "secretprefs: error: write to standard output: No space left on device\n")
    let closed = try Self.run("echo x || exit 5", ">&-", in: home)
    #expect(closed.exit == 5)
    let left = try Self.run("while echo x; do :; done", "| head -n 1", in: home)
    #expect(left.text == "x\n")
    #expect(left.errorText.isEmpty)
  }

  @Test(arguments: [
    // As without the mask, where the command is ended by SIGPIPE.
    ("echo hi", "", 141, ""), ("echo hi; exit 5", "", 5, ""), ("echo hi >&2", "2>&1", 141, ""), ("true", "", 0, ""),
    // Where SIGPIPE is ignored, nothing else says that the output is lost.
    ("echo hi", "trap '' PIPE; ", 74, "secretprefs: error: write to standard output: Broken pipe\n"),
  ])
  func `the end says that nobody has read the output`(
    _ script: String, _ option: String, _ exit: Int32, _ errors: String
  ) throws {
    let home = try RunTests.prepared()
    try home.write(script, to: "script")
    let (trap, redirection) = option.hasPrefix("trap") ? (option, "") : ("", option)
    // A pipe whose reader is gone before anything is written.
    let outcome = try Tool.shell(
      """
      mkfifo pipe; exec 4<>pipe 3>pipe 4>&-
      (\(trap)exec secretprefs run --mask --key-file k -- sh script >&3 \(redirection))
      """, in: home)
    #expect(outcome.exit == exit)
    #expect(outcome.errorText == errors)
  }

  @Test func `values that are not masked are named`() throws {
    let home = try RunTests.prepared()
    let outcome = try Tool.shell(
      """
      export SECRETPREFS_KEY_FILE=k
      printf 8080 | secretprefs set port
      secretprefs run --mask --env P=port --env Q=port --only token -- sh -c 'echo $P $Q $TOKEN'
      """, in: home)
    #expect(outcome.text == "8080 8080 ***********\n")
    #expect(
      outcome.errorText
        == "secretprefs: warning: not masked, because shorter than 8 bytes, with fewer than 6 that are compared, or neither text nor data: port\n"
    )
  }

  @Test func `each value is read once`() throws {
    let home = try RunTests.prepared()
    let outcome = try Tool.shell(
      """
      export SECRETPREFS_KEY_FILE=k
      secretprefs audit on >/dev/null
      secretprefs run --mask --env P=token --env Q=token --only token -- true
      secretprefs audit show --json | grep -o '"action":"read"' | wc -l
      """, in: home)
    #expect(outcome.text == "1\n", "\(outcome.errorText)")
  }

  @Test func `what a process that stays behind writes is not waited for`() throws {
    let outcome = try Self.run("(sleep 600; echo late) & echo $!", in: try RunTests.prepared())
    #expect(outcome.exit == 0)
    kill(pid_t(outcome.text.dropLast()) ?? 0, SIGTERM)
  }
}
