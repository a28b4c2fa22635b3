/// An operation of the tool, independent of how its arguments were parsed.
protocol ToolAction {
  /// Performs the operation. Results are written to standard output last, when nothing else can fail.
  func perform(_ messages: Messages) throws
}
