import FoundationEssentials

/// The set of files with one fault each.
enum VectorSet {
  static var all: [Vector] {
    VaultVectors.all + HeaderVectors.all + SlotVectors.all + HolderVectors.all + CostVectors.all + ManifestVectors.all
      + SectionVectors.all + FloorVectors.all + BodyVectors.all + NameVectors.all + RecordVectors.all
      + ValueVectors.all + ExtensionVectors.all + RemovedVectors.all + EntryVectors.all + JournalVectors.all
      + SizeVectors.all
      + OrderVectors.all
  }

  static func write(to directory: String) throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    var vectors: [JSON] = []
    var names: Set<String> = []
    for vector in all {
      precondition(names.insert(vector.name).inserted, "two vectors are called \(vector.name)")
      let (file, json) = vector.made()
      try Data(file).write(to: URL(filePath: directory + "/" + vector.fileName))
      vectors.append(json)
    }
    try write(vectors, to: directory)
    try SealedTextVectors.write(to: directory)
    try ValueTextVectors.write(to: directory)
    try HolderTextVectors.write(to: directory)
  }

  /// Writes `manifest.json`.
  static func write(_ vectors: [JSON], to directory: String) throws {
    let manifest = JSON.object([
      ("format", .number(1)), ("device_key", .text(Sealing.text(ofKey: Credential.deviceKey))),
      ("vectors", .list(vectors)),
    ])
    try Data((manifest.written() + "\n").utf8).write(to: URL(filePath: directory + "/manifest.json"))
  }
}
