internal import ArgumentParser

/// `secretprefs identity`.
struct Identities: ParsableCommand {
  static let configuration = CommandConfiguration(
    parent: "identity",
    abstract: "Creates and shows identities, for access without sending a secret.",
    discussion: """
      An identity is a secret that never leaves the machine or the person that it was created for. An owner of a vault \
      adds its public key, and the holder trusts the pin of the vault. Both of these texts may be sent openly, over a \
      channel that others cannot write to. One identity can open several groups and vaults.

      EXAMPLE:
        web1$    secretprefs identity new /etc/shop/shop.identity
        laptop$  secretprefs slots add --for-group billing --public-key spv-public-1:8f40... --label web1
        web1$    secretprefs identity trust /etc/shop/shop.identity spv-vault-1:...
        web1$    secretprefs get token --group billing --identity /etc/shop/shop.identity
      """,
    subcommands: [NewIdentity.self, ShowIdentity.self, TrustVault.self, IdentityKey.self])
}
