internal import ArgumentParser

/// The options of `rename`, `copy` and `move`.
struct CopyOptions: ParsableArguments {
  @Flag(help: "Replace a key that has the new name; its values become earlier ones, as many as the history keeps.")
  var replace = false

  @Option(
    help: ArgumentHelp("Do it only if the key with the old name has this revision.", valueName: "revision"))
  var ifRevision: UInt64?

  /// What is different in another access group, for the help of the commands.
  static let groups = """
    In a different access group, the copy has no earlier values and a new time of creation. The values of a key that \
    is moved are kept with it, as a removed key, for 30 days. The holders of the old group still know the value.
    """

  /// What the commands keep and change, for their help.
  static let carried = """
    The kind, the accessibility, the time of creation, the label, the comment, the attributes, the expiry and the kept \
    earlier values with their revisions stay; the current revision and the time of the last change are new. In \
    one access group it is one transaction: if it fails, nothing has changed. The values of a removed key that has the \
    new name become earlier ones of the key. A value that is bound to this machine needs the device key. \
    An existing key is refused unless --replace is given. The old name of a renamed key is not kept as a removed key.
    """
}
