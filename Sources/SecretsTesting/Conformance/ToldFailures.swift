internal import Preferences

/// What `body` tells ``PreferenceFailures`` instead of throwing it.
func failures(of body: () throws -> Void) rethrows -> [PreferenceFailures.Failure] {
  let told = Collected<PreferenceFailures.Failure>()
  try PreferenceFailures.withHandler(told.append, body)
  return told.all
}
