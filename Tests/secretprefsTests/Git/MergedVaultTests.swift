import Testing

/// What others see of a vault that `git-merge` has made, and what a merge keeps of the histories of keys.
struct MergedVaultTests {
  private let home: Scratch

  init() throws { home = try Scratch() }

  /// Runs lines after those that make the vault `base`, with the key a.
  private func shell(_ lines: String) throws -> Tool.Outcome {
    try Tool.shell(
      """
      export SECRETPREFS_KEY_FILE=k SECRETPREFS_SERVICE=s
      put() { file=$1 key=$2; printf %s "$3" | { shift 3; secretprefs set "$key" --vault "$file" "$@"; } || exit 98; }
      fork() { cp base ours && cp base theirs || exit 97; }
      merge() { secretprefs git-merge base ours theirs "$@"; }
      revision() { secretprefs info $2 --vault $1 | grep '^revision' | tr -dc 0-9; }
      secretprefs init --key-file k --vault base && put base a 1 || exit 99
      \(lines)
      """, in: home)
  }

  @Test(
    arguments: ["ours", "theirs"],
    [
      ":", "secretprefs groups create new --vault theirs", "secretprefs compact --vault ours",
      "secretprefs compact --vault theirs", "secretprefs rotate --group default --vault theirs",
    ])
  func `a mark of either side accepts the result`(_ side: String, _ change: String) throws {
    let outcome = try shell(
      """
      fork; mark=$PWD/mark
      secretprefs mark init --vault \(side) --mark $mark > made || exit
      put ours z x; put theirs y x
      \(change)
      for value in 2 3 4; do put \(side) b $value --mark $mark; done
      merge && secretprefs list --vault ours --mark $mark && secretprefs verify --vault ours --mark $mark > verified
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == "a\nb\ny\nz\n")
  }

  @Test func `a merge of equal copies changes nothing`() throws {
    let outcome = try shell("fork; merge --json && cmp base ours")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == #"{"takes":"ours","set":0,"removed":0,"conflicts":[]}"# + "\n")
  }

  @Test(arguments: ["ours", "theirs"])
  func `a backup of the result is newer than those of either side`(_ side: String) throws {
    let outcome = try shell(
      """
      fork; put ours z x; put theirs y x; put theirs y z
      cp \(side) v && secretprefs backup copies/ --vault v > first || exit
      merge && cp ours v && secretprefs backup copies/ --keep 1 --vault v > second && ls copies | wc -l
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == "1\n")
  }

  @Test(arguments: [
    // The same number of writes on both sides, and more of them in ours.
    "put ours a O; put theirs a T", "put ours a O; put ours z 1; put ours z 2; put theirs a T",
    // No conflict: theirs has the value of the ancestor again.
    "put theirs a T; put theirs a 1; put ours z 1; put ours a O",
    // No conflict: theirs has written the value of ours later.
    "put ours a O; put theirs a T; read=$(revision theirs a); put theirs a O",
  ])
  func `a revision that was read on one side is none of a different value afterwards`(_ changes: String) throws {
    let outcome = try shell(
      """
      fork; \(changes)
      : ${read:=$(revision theirs a)}; merge
      printf mine | secretprefs set a --vault ours --if-revision $read && exit 96
      secretprefs get a --vault ours
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == "O")
    #expect(outcome.errorText.contains("the record does not have the expected revision"), "\(outcome.errorText)")
  }

  @Test func `a conflict keeps the metadata and the earlier values of ours`() throws {
    let outcome = try shell(
      """
      fork; put ours a O --label kept; put theirs a T; merge
      secretprefs info a --vault ours --json | grep -c '"label":"kept"'
      secretprefs history a --vault ours | wc -l
      """)
    #expect(outcome.text.split(whereSeparator: \.isWhitespace) == ["1", "2"], "\(outcome.text)\(outcome.errorText)")
  }

  @Test(
    arguments: [
      ("put base a 2", "secretprefs history undo --yes --vault theirs"),
      ("secretprefs rotate-value a --generate --vault base", "secretprefs rotate-value a --revert --vault theirs"),
    ])
  func `an earlier value that is the current one again was not removed`(_ before: String, _ change: String) throws {
    let outcome = try shell(
      "\(before) || exit; fork; put ours z x; \(change) > done || exit; merge && secretprefs get a --vault ours")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == "1")
  }

  @Test(arguments: [("2 3", "3"), ("2 3 4", "4")])
  func `an earlier value that one side has no more is gone`(_ values: String, _ last: String) throws {
    let outcome = try shell(
      """
      put base h old --history 2; put base h 1; fork; put ours z x
      secretprefs edit h --history 0 --vault theirs && secretprefs edit h --history 2 --vault theirs || exit
      for value in \(values); do put theirs h $value; done
      merge || exit
      for number in $(secretprefs history h --vault ours | tr -d '*' | awk '{print $1}'); do
        secretprefs get h --revision $number --vault ours; echo
      done
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    // The value of the ancestor is an earlier one as long as the other side has it.
    #expect(outcome.text == (last == "3" ? "3\n1\n" : "4\n"), "\(outcome.text)")
  }

  @Test(arguments: [
    ("--device-key-file d1", "the value is bound to another device key"),
    ("", "the value is bound to a device key, and none was given"),
  ])
  func `a value of another device is a conflict of its key, and the other keys are merged`(
    _ options: String, _ reason: String
  ) throws {
    let outcome = try shell(
      """
      secretprefs new-key d1 && secretprefs new-key d2 || exit
      put base e 1 --accessibility whenUnlockedThisDeviceOnly --device-key-file d1; fork
      put theirs e 2 --device-key-file d2; put theirs z new
      merge \(options)
      test $? = 1 && secretprefs get z --vault ours && secretprefs get e --vault ours --device-key-file d1
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == "new1")
    #expect(outcome.errorText.contains("secretprefs: warning: default/s/e: \(reason)\n"), "\(outcome.errorText)")
  }

  @Test(arguments: ["theirs", "ours"])
  func `an identity cannot merge a change of its pin, and an owner's key can`(_ rotated: String) throws {
    let outcome = try shell(
      """
      secretprefs identity new me | secretprefs slots add --public-key - --vault base > pin || exit
      fork; put ours x 1; put theirs y 1
      secretprefs rotate --vault-keys --vault \(rotated) > new.pin || exit
      pin=$(cat \(rotated == "ours" ? "new.pin" : "pin"))
      merge --identity me --trust "$pin" && exit 96
      merge && secretprefs list --vault ours
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == "a\nx\ny\n")
    #expect(outcome.errorText.contains("hint: the identity was added later, or a rotation of the vault's keys, "))
  }
}
