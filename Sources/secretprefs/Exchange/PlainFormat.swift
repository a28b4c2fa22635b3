internal import DurableFiles
internal import PreferenceFiles
internal import Preferences

/// The formats that an option `--format` names.
protocol NamedFormat: RawRepresentable<String>, CaseIterable {}

extension NamedFormat {
  static func named(_ name: String) throws(ToolError) -> Self {
    guard let format = Self(rawValue: name) else { throw .usage("there is no such format", hint: choices) }
    return format
  }

  static var choices: String { "--format " + allCases.map(\.rawValue).joined(separator: ", ") }
}

/// A format that `import` reads.
enum PlainFormat: String, NamedFormat {
  case dotenv, json, csv, netrc
  case gitCredentials = "git-credentials"
  case docker, bitwarden, keepass, pass

  /// The format that the name of a file stands for. Its content must agree: parsing it fails otherwise.
  private init?(fileName name: String) {
    if name.hasSuffix(".json") {
      self = .json
    } else if name.hasSuffix(".csv") {
      self = .csv
    } else if name.hasSuffix(".xml") {
      self = .keepass
    } else if name == ".env" || name.hasPrefix(".env.") || name.hasSuffix(".env") {
      self = .dotenv
    } else if name == ".netrc" || name == "_netrc" {
      self = .netrc
    } else if name == ".git-credentials" {
      self = .gitCredentials
    } else {
      return nil
    }
  }

  /// Parses a file in place.
  ///
  /// - Parameters:
  ///   - format: its format; `nil` to recognise it.
  ///   - path: the path of the file, whose name helps to recognise the format.
  static func parse(
    _ bytes: UnsafeMutableRawBufferPointer, as format: PlainFormat?, path: String
  ) throws -> (format: PlainFormat, records: PlainRecords) {
    guard !VaultLocation.isVault(bytes) else {
      throw ToolError.usage(
        "\(path): a vault is not a plain file", hint: "\"secretprefs bundle import\" imports a bundle")
    }
    let name = PathName.last(of: path)
    guard let assumed = format ?? PlainFormat(fileName: name) else {
      throw ToolError.usage(
        path == "-" ? "the format of standard input is not known" : "\(path): the name does not show the format",
        hint: choices)
    }
    switch assumed {
    case .pass:
      throw ToolError.usage("\(path): not a directory", hint: "the password store of pass, often ~/.password-store")
    case .dotenv: return (.dotenv, try dotenv(bytes))
    case .csv: return (.csv, try CSVSource.parse(bytes))
    case .netrc: return (.netrc, try NetrcSource.parse(bytes))
    case .gitCredentials: return (.gitCredentials, try GitCredentialsSource.parse(bytes))
    case .keepass: return (.keepass, try KeePassSource.parse(bytes))
    case .json, .docker, .bitwarden:
      let leaves = try JSONSource.leaves(of: bytes)
      let shown = format ?? JSONDocuments.format(of: leaves, named: name)
      let records =
        switch shown {
        case .docker: try JSONDocuments.docker(leaves, in: bytes)
        case .bitwarden: try BitwardenSource.records(of: leaves, in: bytes)
        default: try JSONDocuments.plain(leaves)
        }
      return (shown, records)
    }
  }

  private static func dotenv(_ bytes: UnsafeMutableRawBufferPointer) throws(PreferencesError) -> PlainRecords {
    var parser = DotenvParser(bytes)
    var records = PlainRecords()
    while let entry = try parser.nextEntry() { try records.add(entry.name, entry.text, line: entry.line) }
    return records
  }
}
