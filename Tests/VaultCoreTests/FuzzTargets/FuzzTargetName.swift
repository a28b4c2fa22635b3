/// The targets by the names that `Scripts/fuzz` and the corpus know them by.
enum FuzzTargetName: String, CaseIterable {
  case header, manifest, section, `extension`, journal, frame, mark, keytext, salvage, catchup, logheader, logevent

  func make() throws -> any FuzzTarget {
    switch self {
    case .header: HeaderTarget()
    case .manifest: try ManifestTarget()
    case .section: try SectionTarget()
    case .extension: try ExtensionTarget()
    case .journal: try JournalTarget()
    case .frame: FrameTarget()
    case .mark: MarkTarget()
    case .keytext: KeyTextTarget()
    case .salvage: try SalvageTarget()
    case .catchup: try CatchUpTarget()
    case .logheader: try LogHeaderTarget()
    case .logevent: LogEventTarget()
    }
  }
}
