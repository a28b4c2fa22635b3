/// A field of a web form in the last columns of RoboForm's CSV: `Label$,,,type,value`.
enum RoboFormField {
  /// The label of codes, for which RoboForm has no column.
  private static let codes = "TOTP KEY"
  private static let comma = UInt8(ascii: ",")

  /// The field in a cell. A cell of another form is a field as a whole, with the name of the column.
  ///
  /// - Parameter column: the name of the column.
  static func field(
    _ cell: Range<Int>, in text: InputText, column: String
  ) throws(PlainFault) -> (name: String, value: Range<Int>) {
    let bytes = text.bytes[cell]
    // The label may have commas, too.
    let mark = bytes.firstRange(of: Array("$,".utf8))
    guard let first = mark.map({ $0.upperBound - 1 }) ?? bytes.firstIndex(of: comma) else { return (column, cell) }
    var rest = bytes[(first + 1)...]
    for _ in 0..<3 {
      guard let next = rest.firstIndex(of: comma) else { return (column, cell) }
      rest = rest[(next + 1)...]
    }
    let label = try text.cutName(cell.lowerBound..<(mark?.lowerBound ?? first))
    return (label.uppercased() == codes ? CSVColumns.Meaning.totp.rawValue : label, rest.indices)
  }
}
