/// What the columns of a CSV file have, by their names in any case.
struct CSVColumns {
  enum Meaning: String {
    case name, group, username, password, url, notes, totp, value
    /// Book-keeping of a program, such as the time of a change. It is no secret, and left out.
    case left
    /// A field of its own.
    case other
    /// A field of RoboForm, which has one in each cell from there on.
    case field
    /// A column whose name is too long for a field, which is bad.
    case bad

    /// Whether the values of the column are secrets; `nil` if its name does not say.
    var isSecret: Bool? {
      switch self {
      case .username, .url: false
      case .password, .totp: true
      case .name, .group, .notes, .value, .left, .other, .field, .bad: nil
      }
    }
  }

  /// The names in the exports of Chrome, Firefox, Safari, 1Password, Bitwarden, LastPass, KeePass, KeePassXC, Dashlane,
  /// NordPass, Proton Pass and RoboForm.
  private static let known: [Meaning: [String]] = [
    .name: ["name", "title", "key", "account"],
    .group: ["group", "folder", "grouping", "category", "vault"],
    .username: ["username", "login_username", "login name", "login", "user name", "user"],
    .password: ["password", "login_password", "pwd"],
    .url: ["url", "website", "login_uri", "web site", "login_url"],
    .notes: ["notes", "note", "extra", "comments", "comment", "notesplain"],
    .totp: ["totp", "otpauth", "login_totp", "otpsecret", "otpurl", "one-time password", "otp"],
    .value: ["value"],
    .left: [
      "icon", "last modified", "created", "favorite", "favorite status", "archived", "archived status", "fav", "guid",
      "timecreated", "timelastused", "timepasswordchanged", "reprompt", "createtime", "modifytime",
      "formactionorigin", "last used", "created at", "updated at", "type",
    ],
    .field: ["rffieldsv2"],
  ]

  private static let meaningsByName = Dictionary(
    uniqueKeysWithValues: known.flatMap { meaning, names in names.map { ($0, meaning) } })

  let titles: [String]
  /// Whether quotes and backslashes have a backslash before them: "KeePass CSV (1.x)" of KeePass, which has these
  /// columns (KeePassCsv1x.cs of KeePass 2).
  let hasBackslashes: Bool
  private(set) var meanings: [Meaning] = []
  private var places: [Meaning: Int] = [:]

  init() { self.init([]) }

  init(_ titles: [String]) {
    self.titles = titles
    hasBackslashes = titles == ["Account", "Login Name", "Password", "Web Site", "Comments"]
    for (index, title) in titles.enumerated() {
      let isBad = title.utf8.count > InputText.longestName
      let meaning = isBad ? .bad : Self.meaningsByName[title.lowercased()] ?? .other
      // A second column with the same meaning keeps its own name.
      let isSecond = places[meaning] != nil && meaning != .left && meaning != .bad
      meanings.append(isSecond ? .other : meaning)
      if places[meaning] == nil { places[meaning] = index }
    }
    guard isTable else {
      if let value = places[.value] { meanings[value] = .other }
      return
    }
    // A row of such a table has no other fields.
    for index in meanings.indices where ![.name, .value, .bad].contains(meanings[index]) { meanings[index] = .left }
  }

  subscript(_ meaning: Meaning) -> Int? { places[meaning] }

  var isTable: Bool { places[.password] == nil && places[.name] != nil && places[.value] != nil }

  /// Whether the rows have a password, and what names them, or a key and a value.
  var areKnown: Bool { isTable || places[.password] != nil && (places[.name] != nil || places[.url] != nil) }

  /// Whether the file is of LastPass, which has no other word for its groups.
  var isLastPass: Bool { titles.contains { $0.lowercased() == "grouping" } }

  /// Whether the file is of RoboForm, whose rows end with any number of fields.
  var isRoboForm: Bool { meanings.last == .field }

  /// Whether a column has the URL at which RoboForm fills in a login: most often the one that the row has anyway.
  func isMatchURL(_ index: Int) -> Bool { titles[index].lowercased() == "matchurl" }

  /// Whether the file is of KeePassXC, in which each group begins with the name of the outermost one.
  var hasRootGroup: Bool { titles.starts(with: ["Group", "Title", "Username", "Password", "URL", "Notes"]) }

  /// The field that a column becomes; `nil` for a column that is none.
  func fieldName(_ index: Int) -> String? {
    switch meanings[index] {
    case .name, .group, .left, .value, .field, .bad: nil
    case .other: titles[index]
    case .username, .password, .url, .notes, .totp: meanings[index].rawValue
    }
  }
}
