import Foundation
import VaultCore
import VaultSealing

/// What this implementation finds in a log, in the words of the vectors' manifest.
struct LogVectorRun {
  /// Where the vectors' files are.
  let source: URL
  /// An empty directory that only this user may enter.
  let directory: String

  private var path: String { directory + "/vault.spv" }

  /// The findings, in the manifest's order, and the events.
  func verified(
    _ log: LogVectorManifest.Log
  ) throws -> (findings: [LogVectorManifest.Finding], events: [LogVectorManifest.Event]) {
    try place(log.file, at: path)
    let credential = try Self.credential(log.credential)
    let id = try Vault.open(at: path, credential: credential).group(named: log.group).id
    for file in log.logs { try place(file[1], at: "\(path).audit-\(id)\(file[0])") }
    let vault = try Vault.open(at: path, credential: credential, options: try options(log.mark))
    var events: [LogVectorManifest.Event] = []
    let report = try vault.readAuditLog(of: try vault.group(named: log.group)) { event in
      events.append(
        .init(
          number: event.number, time: event.time, action: event.action.rawValue, uid: event.userID,
          pid: event.processID, slot: event.slot.description, lost: event.lost, program: event.program,
          service: event.service?.text ?? "", key: event.key?.text ?? ""))
    }
    let findings = report.findings.sorted { Self.order($0) < Self.order($1) }
    return (findings.map(Self.finding), events)
  }

  /// The exit class of findings (F.6).
  static func exit(_ findings: [LogVectorManifest.Finding]) -> String {
    let open = findings.filter { !$0.acknowledged }
    if findings.contains(where: { $0.code == "behindMark" }) { return "rolledBack" }
    if open.contains(where: { $0.verdict == "certain" }) { return "tampered" }
    return open.isEmpty ? "ok" : "problems"
  }

  /// The error of opening a vault with a mark.
  func refusal(_ mark: LogVectorManifest.Mark) throws -> String? {
    try place(mark.file, at: path)
    let options = try options(mark.mark)
    let credential = try Self.credential(mark.credential)
    do throws(VaultError) {
      _ = try Vault.open(at: path, credential: credential, options: options).status()
      return nil
    } catch { return error.code.rawValue }
  }

  private func options(_ mark: String?) throws -> Vault.Options {
    var options = Vault.Options()
    guard let mark else { return options }
    try write(Data(mark.utf8), to: directory + "/mark")
    options.markPath = directory + "/mark"
    return options
  }

  private func place(_ file: String, at path: String) throws {
    try write(try Data(contentsOf: source.appending(path: file)), to: path)
  }

  private func write(_ data: Data, to path: String) throws {
    try data.write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  private static func credential(_ secret: VectorManifest.Attempt.Secret) throws(VaultError) -> Vault.Credential {
    .key(try KeyText.parse(Array((secret.key ?? "").utf8).span.bytes))
  }

  private static func order(_ finding: AuditFinding) -> (UInt8, UInt64, UInt64, Int) {
    (finding.code.rawValue, finding.events.lowerBound, finding.events.upperBound, finding.isCertain ? 0 : 1)
  }

  private static func finding(_ finding: AuditFinding) -> LogVectorManifest.Finding {
    .init(
      code: "\(finding.code)", first: finding.events.lowerBound, last: finding.events.upperBound,
      verdict: finding.isCertain ? "certain" : "possible", acknowledged: finding.isAcknowledged)
  }
}
