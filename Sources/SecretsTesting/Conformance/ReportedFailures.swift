internal import Preferences

/// The failures that `body` reports to ``PreferenceFailures`` instead of throwing them.
func failures(of body: () throws -> Void) rethrows -> [PreferenceFailures.Failure] {
  let received = Collected<PreferenceFailures.Failure>()
  try PreferenceFailures.withHandler(received.append, body)
  return received.all
}
