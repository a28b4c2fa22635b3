import Foundation
import VaultCore
import VaultSealing

/// The texts of identities, public keys and pins in `holder-texts.json`; none if the directory has no such file.
struct HolderTexts: Decodable {
  struct Text: Decodable {
    let name, form, text: String
    /// What the manifest says, or `nil` if the text is read.
    let error: String?

    /// What this implementation says.
    var found: String? {
      do throws(VaultError) {
        switch form {
        case "identity": _ = try VaultIdentity(text: Array(text.utf8).span.bytes)
        case "public": _ = try VaultIdentity.PublicKey(text)
        default: _ = try VaultPin(text)
        }
        return nil
      } catch { return error.code.rawValue }
    }
  }

  private(set) var texts: [Text] = []

  init(directory: URL) throws {
    let file = directory.appending(path: "holder-texts.json")
    guard FileManager.default.fileExists(atPath: file.path) else { return }
    self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
  }
}
