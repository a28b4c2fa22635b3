internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// A value in an editor, until it is saved. What was typed is never dropped because saving failed: on a terminal the
/// user may edit or save again, and otherwise the file is kept in memory and its path is named.
final class EditSession {
  private enum Step {
    case edit, save
  }

  private let key: String
  private let folder: MemoryFolder
  private let original: SecretBytes
  private let editor: Editor
  /// Whether to ask the user after a failure.
  private let mayAsk: Bool
  private let messages: Messages

  /// - Parameter key: The key of the value, in errors.
  init(
    _ content: UnsafeRawBufferPointer, of key: String, _ editor: Editor, mayAsk: Bool, _ messages: Messages
  ) throws {
    self.key = key
    folder = try MemoryFolder("the editor")
    try folder.add(content)
    original = try SecretBytes(copying: content)
    self.editor = editor
    self.mayAsk = mayAsk
    self.messages = messages
  }

  /// Runs the editor, and calls `save` with the text if it has changed. A signal takes effect when the text is saved or
  /// kept.
  ///
  /// - Returns: the length of the text, and whether it was saved.
  func run(_ save: (borrowing SecretBytes) throws -> Void) throws -> (count: Int, isSaved: Bool) {
    try PendingSignal.holding { try editAndSave(save) }
  }

  private func editAndSave(_ save: (borrowing SecretBytes) throws -> Void) throws -> (count: Int, isSaved: Bool) {
    var step = Step.edit
    while true {
      do {
        if step == .edit { try editor.edit(folder.file) }
        let text = try text()
        guard !text.isEqual(to: original) else {
          // After an editor that was killed: what is not in the file cannot be saved.
          if step == .save, folder.names.count > 1 { folder.keep("what the editor has left", messages) }
          return (text.count, false)
        }
        try save(text)
        return (text.count, true)
      } catch {
        guard isWorthKeeping(after: error), !Self.isDeliberate(error) else { throw Self.reported(error) }
        guard let next = try nextStep(after: Self.reported(error)) else {
          folder.keep("what you edited", messages)
          throw Self.reported(error)
        }
        step = next
      }
    }
  }

  /// What the editor has saved, without the LF or CRLF that editors add.
  private func text() throws -> SecretBytes {
    let text = try content()
    let count = original.withUnsafeBytes { original in text.withUnsafeBytes { Self.count($0, editedFrom: original) } }
    return count < text.count ? try text.prefix(count) : text
  }

  private func content() throws -> SecretBytes {
    do { return try folder.content() } catch { throw ToolError(thrown: error).about(key: key).withoutChange }
  }

  /// The length of a text without the line end that the original did not have. A carriage return of the original stays.
  private static func count(_ text: UnsafeRawBufferPointer, editedFrom original: UnsafeRawBufferPointer) -> Int {
    let (feed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
    guard text.last == feed, original.last != feed else { return text.count }
    let line = text.dropLast()
    return line.last == carriageReturn && original.last != carriageReturn ? line.count - 1 : line.count
  }

  /// Whether the folder has something that the vault has not. It has, if that cannot be found out.
  private func isWorthKeeping(after error: any Error) -> Bool {
    if error is Editor.Stopped, folder.names.count > 1 { return true }
    do {
      let text = try text()
      return text.count > 0 && !text.isEqual(to: original)
    } catch { return !folder.names.isEmpty }
  }

  /// Whether the user has chosen not to save.
  private static func isDeliberate(_ error: any Error) -> Bool {
    let code = (error as? ToolError)?.code
    // A question without an answer is a usage error.
    return code == ToolError.declinedCode || code == ToolError.usageCode && PendingSignal.pending == SIGINT
  }

  private static func reported(_ error: any Error) -> any Error { (error as? Editor.Stopped)?.error ?? error }

  /// Asks the user; `nil` to keep the file and end.
  private func nextStep(after error: any Error) throws -> Step? {
    guard mayAsk, !PendingSignal.isPending, ControllingTerminal.exists else { return nil }
    var question = "\(displayed(ToolError(thrown: error).message))\nEdit again, save again, or keep the file and end?"
    while true {
      let answer: SecretBytes
      do throws(VaultError) {
        answer = try ControllingTerminal(echoes: true).ask(question + " [edit/save/keep] ")
      } catch {
        return nil
      }
      switch answer.withUnsafeBytes({ String(decoding: $0, as: UTF8.self) }) {
      case "edit": return .edit
      case "save": return .save
      case "keep", "": return nil
      default: question = "Type edit, save or keep:"
      }
    }
  }
}
