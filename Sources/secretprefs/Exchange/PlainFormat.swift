internal import DurableFiles
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
  case docker, bitwarden, keepass, otpauth, pass, records, archive

  /// The format that the name of a file stands for. Its content must agree: parsing it fails otherwise.
  private init?(fileName name: String) {
    if name.hasSuffix(".json") || name == ".dockerconfigjson" {
      self = .json
    } else if name == ".dockercfg" {
      self = .docker
    } else if name.hasSuffix(".jsonl") {
      self = .records
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

  /// The service in which the credential helper of the format's program looks; `nil` for any other format.
  var helperService: String? {
    switch self {
    case .docker: "docker"
    case .gitCredentials: "git"
    default: nil
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
    let named = format ?? PlainFormat(fileName: PathName.last(of: path))
    if named ?? .json == .json, KubernetesParser.isYAML(bytes) {
      throw PlainFault(
        line: 0,
        reason: "this is a Secret of Kubernetes in YAML, which is not read: \"kubectl get secret -o json\" writes JSON")
    }
    guard let assumed = named else {
      throw ToolError.usage(
        path == "-" ? "the format of standard input is not known" : "\(path): the name does not show the format",
        hint: choices)
    }
    switch assumed {
    case .archive: return (.archive, try ArchiveParser.parse(bytes))
    case .json where format == nil && ArchiveParser.isArchive(UnsafeRawBufferPointer(bytes)):
      return (.archive, try ArchiveParser.parse(bytes))
    case .json where format == nil && RecordsParser.isRecords(bytes):
      return (.records, try RecordsParser.parse(bytes))
    case .pass:
      throw ToolError.usage("\(path): not a directory", hint: "the password store of pass, often ~/.password-store")
    case .dotenv: return (.dotenv, try ForeignDotenvParser.parse(bytes))
    case .csv: return (.csv, try CSVParser.parse(bytes))
    case .netrc: return (.netrc, try NetrcParser.parse(bytes))
    case .gitCredentials: return (.gitCredentials, try GitCredentialsParser.parse(bytes))
    case .keepass: return (.keepass, try KeePassParser.parse(bytes))
    case .records: return (.records, try RecordsParser.parse(bytes))
    case .otpauth: return (.otpauth, try OneTimeParser.parse(bytes))
    case .json, .docker, .bitwarden:
      guard !bytes.allSatisfy(InputText.isSpace) else { throw PlainFault(line: 0, reason: "the file is empty") }
      let (leaves, faults) = try GuardedJSONParser.parts(of: bytes)
      if format == nil, let program = JSONDocuments.foreignProgram(of: leaves) {
        throw ToolError.usage(
          "\(path): this is an export of \(program), which is not read",
          hint: "export in a different format; --format json imports it as settings")
      }
      let shown = format ?? (assumed == .docker ? .docker : JSONDocuments.format(of: leaves))
      var records =
        switch shown {
        case .docker: try DockerParser.records(of: leaves, in: bytes, isKnown: assumed == .docker)
        case .bitwarden: try BitwardenParser.records(of: leaves, in: bytes)
        default:
          try KubernetesParser.recognizes(leaves, in: bytes)
            ? KubernetesParser.records(of: leaves, in: bytes) : JSONDocuments.plain(leaves, in: bytes)
        }
      for fault in faults { try records.refuse(fault) }
      return (shown, records)
    }
  }
}
