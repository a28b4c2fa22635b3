import Preferences

@testable import secretprefs

/// The two parsers of JSON: the one that decodes secrets in place, and the one of preferences.
enum JSONAgreement {
  static func check(_ text: [UInt8]) throws {
    let parts = withCopy(of: text) { bytes in
      Result { () throws(PlainFault) in try GuardedJSONParser.parts(of: bytes) }
    }
    var members: [String: PreferenceValue?]?
    do throws(PreferencesError) {
      var parser = try JSONParser(text)
      members = try parser.parseMembers()
    } catch { try demandNoSecret("\(error)", "JSON") }
    switch parts {
    case .success(let parts):
      guard let members, parts.faults.isEmpty else { return }
      let names = Set(parts.leaves.map { $0.path[0].text })
      try demand(names == Set(members.keys), "the members of an object")
    case .failure(let fault):
      try demandNoSecret(fault.reason, "JSON")
      try demand(fault.isLimit || members == nil, "the parsers of JSON disagree: \(fault.reason)")
    }
  }
}
