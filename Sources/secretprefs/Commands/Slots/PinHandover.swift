internal import Synchronization
internal import VaultCore

/// What a command prints of a rotation.
struct RotationAnswer: Sendable {
  let isJSON: Bool
  /// What `--json` prints first.
  let members: [(String, JSON)]

  /// - Parameter report: `nil` if nothing was rotated.
  /// - Returns: `nil` if there is nothing to print.
  func text(_ report: RotationReport?) -> String? {
    guard isJSON else { return report?.shownPin.map { "\($0)\n" } }
    let rotation = report?.members ?? [("dropped", .array([])), ("renewed", .array([]))]
    return JSON.object(members + rotation).text + "\n"
  }
}

/// Hands over the new pin of a vault before its keys are replaced, if the slot that opened the vault is one of a public
/// key: afterwards nothing else may open the vault, and what is printed then can be lost.
///
/// The identity file gets the pin. If that is not possible, the answer of the command is printed before the change.
final class PinHandover: Sendable {
  /// Who has the new pin.
  enum Receiver { case file, output }

  private struct State {
    var receiver: Receiver?
    /// Why the identity file could not be changed.
    var refusal: VaultError?
  }

  private let file: TrustingFile?
  private let answer: RotationAnswer
  private let state = Mutex(State())

  /// - Parameter file: the identity file whose own pin opened the vault, if one did.
  init(_ file: TrustingFile?, _ answer: RotationAnswer) {
    self.file = file
    self.answer = answer
  }

  /// For `beforeStoring` of a rotation.
  /// - Throws: an error if neither has the pin.
  func hand(_ report: RotationReport) throws(VaultError) {
    guard let pin = report.newPin, report.renewedSlots.contains(where: \.isCurrent) else { return }
    if let file, let former = report.formerPin {
      do throws(VaultError) {
        try file.add(pin, behind: former)
        return state.withLock { $0.receiver = .file }
      } catch { state.withLock { $0.refusal = error } }
    }
    guard let text = answer.text(report) else { return }
    do throws(ToolError) { try Output.writeKept(text) } catch {
      throw VaultError(.io, error.message, cause: error)
    }
    state.withLock { $0.receiver = .output }
  }

  /// Warns about the slots that need the new pin, and about the backups that need the former one.
  func warn(_ report: RotationReport, _ messages: Messages) {
    let (receiver, refusal) = state.withLock { ($0.receiver, $0.refusal) }
    if let refusal { messages.warn("the identity file does not get the new pin (\(displayed(refusal.message)))") }
    report.warnOfRenewedSlots(messages, own: receiver)
  }

  /// Prints the answer, unless that was done before the change, and then takes the former pin from the identity file.
  /// If the answer is lost, the next command does that, and names the pin.
  func complete(_ report: RotationReport?, _ messages: Messages) throws(ToolError) {
    let receiver = state.withLock { $0.receiver }
    if receiver != .output, let text = answer.text(report) { try Output.write(text) }
    if receiver == .file, let file, let pin = report?.newPin { file.settle(on: pin, messages) }
  }
}
