/// Something the tool can carry out, however its arguments were understood.
protocol Work {
  /// Does it; data goes to standard output, and only when nothing can fail any more but that.
  func perform(_ messages: Messages) throws
}
