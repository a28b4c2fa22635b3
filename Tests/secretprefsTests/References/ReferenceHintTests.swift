import Testing

/// After a reference that leads to no key, a hint names keys by references: a key alone would be one of the service of
/// the environment.
struct ReferenceHintTests {
  @Test(arguments: [
    "get REFERENCE", "info REFERENCE", "history REFERENCE", "history restore REFERENCE", "copy REFERENCE new",
    "rename REFERENCE new", "move REFERENCE secret://prod/new", "rotate-value REFERENCE --generate",
    "rotate-value REFERENCE --confirm", "edit REFERENCE --label x", "edit --value REFERENCE --yes", "otp REFERENCE",
    "qr REFERENCE --print", "remove REFERENCE", "bundle export REFERENCE --to b --new-key-file n",
    "run --only REFERENCE -- true", "run --env A=REFERENCE -- true",
  ])
  func `a key that a reference may mean is named by a reference`(_ command: String) throws {
    let home = try Scratch()
    let start = "export SECRETPREFS_SERVICE=prod SECRETPREFS_KEY_FILE=k EDITOR=true; "
    let made = try Tool.shell(
      start
        + """
        secretprefs init --key-file k && for service in prod staging; do
          printf v | secretprefs set github --service $service || exit
        done && printf v | secretprefs set a/b --service staging
        """, in: home)
    try #require(made.exit == 0, "\(made.errorText)")
    for (reference, hint) in [
      ("secret://staging/githu", "did you mean secret://staging/github?"),
      ("secret://prod/a%2Fb", "did you mean secret://staging/a/b?"),
      (
        "secret://prod/nothing",
        "\"secretprefs list --references --all-services --all-groups\" lists the references to all keys"
      ),
    ] {
      let line = start + "secretprefs " + command.replacing("REFERENCE", with: reference)
      let outcome = try Tool.shell(line, in: home)
      #expect(outcome.exit == 1)
      #expect(outcome.errorText.contains("secretprefs: hint: \(hint)\n"), "\(outcome.errorText)")
    }
  }
}
