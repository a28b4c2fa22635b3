internal import ArgumentParser

/// `secretprefs requests`.
struct Requests: ParsableCommand {
  static let configuration = CommandConfiguration(
    parent: "requests",
    abstract: "Asks for access to a vault, and grants it.",
    discussion: """
      A machine leaves the public key of its identity, with a note, in a folder beside the vault, its path with \
      .requests, or in the table "request" of the database. An owner compares the public key with the one that the \
      machine shows, and grants access with one command. A request is not a secret, and opens nothing.

      Who may write to the folder can leave, replace and remove requests in the name of others, and who may write to \
      the table can leave any note: nothing in a request is proof of who wrote it. Compare all digits of the public \
      key. The pin of the vault never comes from there: send it to the machine over a channel that others cannot \
      write to.

      "requests add" creates the folder for its user alone. For all users of the machine, make it "chmod 1733"; for a \
      Unix group, "chgrp" and "chmod 3770"; with --shared, it is created for the group of the vault. With --folder it \
      is elsewhere, such as on a share.

      In a database, "secretprefs postgres grant requester" lets a role leave requests, at most 100, and see and \
      remove its own. Roles that may write vaults list and remove all.

      EXAMPLE:
        web1$    secretprefs requests add --identity /etc/shop/shop.identity --note "web1, rack 4"
        laptop$  secretprefs requests
        laptop$  secretprefs requests grant 8f40c5ad --for-group billing --label web1
      """,
    subcommands: [ListRequests.self, AddRequest.self, GrantRequest.self, RemoveRequest.self],
    defaultSubcommand: ListRequests.self)
}
