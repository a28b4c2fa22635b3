import Foundation
import Testing

/// The Unix users of one vault, each with an identity of their own: `--shared`.
struct TeamTests {
  static let isPossible = geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0

  /// Makes a directory of the group 60010, users with homes, and `as USER COMMAND…`, which runs the tool.
  static let start = """
    set -e
    umask 022
    chmod 711 .
    cp "$(command -v secretprefs)" tool
    mkdir team && chown 60001:60010 team && chmod 2770 team
    for user in 60001 60002 60003; do mkdir -m 700 $user && chown $user:$user $user; done
    as() {
      groups="--groups 60010"
      [ $1 != 60003 ] || groups=--clear-groups
      HOME=$PWD/$1 SECRETPREFS_VAULT=$PWD/team/s.spv SECRETPREFS_IDENTITY_FILE=$PWD/$1/id \\
        setpriv --reuid $1 --regid $1 $groups sh -c 'shift; exec ./tool "$@"' sh "$@"
    }
    of() { stat -c '%u %g %a' team/s.spv; }
    alice() { as 60001 "$@"; }
    bob() { as 60002 "$@"; }
    export SECRETPREFS_SHARED=1
    alice init --key-file $PWD/60001/key
    alice identity new $PWD/60001/id >public
    alice slots add --key-file $PWD/60001/key --public-key - <public >pin 2>/dev/null
    alice identity trust $PWD/60001/id - <pin
    bob identity new $PWD/60002/id >public
    bob requests add --note bob 2>/dev/null | cmp - public
    alice requests grant "$(cat public)" --owner --yes >pin 2>grant
    bob identity trust $PWD/60002/id - <pin
    set +e

    """

  private static func run(_ script: String) throws -> Tool.Outcome {
    let home = try Scratch()
    try home.write(start + script, to: "script")
    return try Tool.shell("sh script", in: home)
  }

  /// Runs a script in a session keyring of its own, with `bare USER COMMAND…` for a user without a credential.
  private static func runInSession(_ script: String) throws -> Tool.Outcome {
    let home = try Scratch()
    let bare = """
      bare() {
        HOME=$PWD/$1 SECRETPREFS_VAULT=$PWD/team/s.spv \\
          setpriv --reuid $1 --regid $1 --groups 60010 sh -c 'shift; exec ./tool "$@"' sh "$@"
      }

      """
    try home.write(start + bare + script, to: "script")
    return try Keyring.session("sh script", in: home)
  }

  @Test(.enabled(if: isPossible, "only root becomes other users"))
  func `two users write to one vault in turn, and each finds it as it should be`() throws {
    let outcome = try Self.run(
      """
      of
      printf v1 | bob set token; of
      alice get token; echo
      bob compact; of
      printf v2 | alice set token; alice compact; of
      alice audit on; bob get token; echo; alice audit verify; stat -c '%g %a' team/s.spv.audit-*
      alice slots add --label spare --public-key "$(bob identity new $PWD/60002/spare)" >/dev/null 2>&1
      alice doctor; bob doctor; bob get token; echo
      bob rotate --vault-keys --drop-others >pin 2>/dev/null; of
      alice identity trust $PWD/60001/id - <pin; alice get token; echo
      """)
    #expect(outcome.errorText == "")
    #expect(
      outcome.text == """
        60001 60010 660
        60001 60010 660
        v1
        60002 60010 660
        60001 60010 660
        v2
        auditing is on, fail-closed
        group default: 2 events, whole
        60010 660
        no problems found
        no problems found
        v2
        60002 60010 660
        v2

        """)
  }

  @Test(.enabled(if: isPossible, "only root becomes other users"))
  func `others have no access, and a member without the option is asked for it`() throws {
    let outcome = try Self.run(
      """
      as 60003 status; echo $?
      (unset SECRETPREFS_SHARED; bob get token; echo $?; bob get token --shared --json; echo $?)
      """)
    #expect(outcome.text == "74\n74\n1\n")
    #expect(outcome.errorText.contains("hint: if the Unix group of the directory shares the vault, use --shared"))
  }

  @Test(
    .enabled(if: isPossible, "only root becomes other users"),
    arguments: [
      ("chmod 664 team/s.spv", "error    others have access to the file: its mode is 0664"),
      ("chmod 600 team/s.spv", "warning  the group cannot read and write the file: its mode is 0600"),
      ("chgrp 60001 team/s.spv", "error    the file belongs to group 60001, and its directory to group 60010"),
      ("chmod 2777 team", "error    others may write to the directory: its mode is 02777"),
      ("chmod 3770 team", "warning  with the sticky bit, only the owner of the file can change keys, slots and groups"),
      ("chmod 2750 team", "warning  the group may not write to the directory, so only its owner can change keys"),
      ("chmod g-s team", "advice   files that other programs create in the directory do not get its group"),
      ("chmod 2777 team/s.spv.requests", "warning  users can remove and replace each other's requests"),
    ])
  func `doctor says what is wrong with group, mode and directory`(_ change: String, _ finding: String) throws {
    let outcome = try Self.run("\(change); alice doctor")
    #expect(outcome.text.contains(finding), "\(outcome.text)\(outcome.errorText)")
  }

  @Test(.enabled(if: isPossible, "only root becomes other users"))
  func `the repair of permissions leaves a shared vault to its group`() throws {
    let outcome = try Self.run(
      "chmod 666 team/s.spv; chmod 2777 team; alice doctor --repair permissions; of; stat -c %a team; bob list")
    #expect(
      outcome.text == """
        changed the mode of the vault from 0666 to 0660
        changed the mode of the vault's directory from 02777 to 02775
        60001 60010 660
        2775

        """)
  }

  @Test(.enabled(if: isPossible, "only root becomes other users"), Keyring.isNeeded)
  func `a member keeps the shared vault unlocked, across the writes of others and until its slot is removed`() throws {
    let outcome = try Self.runInSession(
      """
      printf v1 | alice set token
      bob unlock | cut -c 1-14
      bare 60002 get token; echo
      printf v2 | bare 60002 set token; of
      alice compact; of
      bare 60002 get token; echo
      bare 60002 compact; of
      bare 60002 slots add --new-key-file $PWD/60002/lasting; echo $?
      alice slots remove --public-key "$(bob identity show $PWD/60002/id | head -1)" \
        --keep-key-file $PWD/60001/key >pin 2>/dev/null
      bare 60002 get token; echo $?
      bob unlock; echo $?
      bare 60002 lock; bare 60002 get token; echo $?
      """)
    #expect(
      outcome.text == """
        unlocked until
        v1
        60001 60010 660
        60001 60010 660
        v2
        60002 60010 660
        78
        77
        77
        78

        """)
    #expect(outcome.errorText.contains("the unlocked key does not open the vault: the slot that opened this vault was"))
    #expect(outcome.errorText.contains("hint: \"secretprefs unlock\" replaces the key"))
  }

  @Test(.enabled(if: isPossible, "only root becomes other users"), Keyring.isNeeded)
  func `a member of several groups keeps all of them unlocked, and loses one without the others`() throws {
    let outcome = try Self.runInSession(
      """
      bob identity new $PWD/60002/held --trust "$(alice slots pin)" >held
      for group in one two; do
        alice groups create $group
        printf "of $group" | alice set token --group $group
        alice slots add --for-group $group --public-key "$(cat held)" >/dev/null 2>slot-$group
      done
      bob unlock --identity $PWD/60002/held --json | grep -o '"slots":.*"until' | sed "s/[0-9a-f]\\{32\\}/ID/g"
      for group in one two; do bare 60002 get token --group $group; echo; done
      bare 60002 get token --group default; echo $?
      bare 60002 status | grep ^unlocked | sed 's/slot [0-9a-f]*/slot/'
      alice slots remove "$(sed 's/.*slot is //' slot-one)" 2>/dev/null
      bare 60002 get token --group two; echo
      bare 60002 get token --group one; echo $?
      bare 60002 status | grep ^unlocked | sed 's/slot [0-9a-f]*/slot/'
      """)
    #expect(
      outcome.text == """
        "slots":["ID","ID"],"until
        of one
        of two
        77
        unlocked    slot, raw key
        unlocked    slot, raw key
        of two
        77
        unlocked    slot, which was removed
        unlocked    slot, raw key

        """, "\(outcome.errorText)")
  }

  @Test(.enabled(if: isPossible, "only root becomes other users"))
  func `a request of another user that cannot be read may be one, and nobody is told to remove it`() throws {
    let outcome = try Self.run(
      """
      bob identity new $PWD/60002/later >public
      bob requests add --identity $PWD/60002/later 2>/dev/null >added; file=$(cut -d : -f 2 public)
      chmod 600 team/s.spv.requests/$file; echo text >team/s.spv.requests/text
      (alice requests; alice requests remove "$(cat public)"; alice doctor) 2>&1 | grep request \\
        | sed "s/$file/FILE/; s|$PWD/||"
      """)
    #expect(
      outcome.text == """
        secretprefs: warning: team/s.spv.requests/text is not a request: its first line is not a public key
        secretprefs: warning: team/s.spv.requests/FILE may be a request that cannot be read: open: Permission denied
        secretprefs: error: no request that can be read has this public key
        secretprefs: hint: "secretprefs requests list" lists the requests; "secretprefs slots add" needs none
        advice   team/s.spv.requests has 1 file that is not a request
                 repair: secretprefs requests list names them; remove them
        not checked: 1 file that may be a request for access, in team/s.spv.requests (secretprefs requests list says why)

        """, "\(outcome.errorText)")
  }
}
