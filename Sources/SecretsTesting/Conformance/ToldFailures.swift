internal import Preferences

/// The failures that `body` reports to ``PreferenceFailures`` instead of throwing them.
func failures(of body: () throws -> Void) rethrows -> [PreferenceFailures.Failure] {
  let told = Collected<PreferenceFailures.Failure>()
  try PreferenceFailures.withHandler(told.append, body)
  return told.all
}
