/// The list of items that an extension field is (3.8).
enum Items {
  /// `nil` for a field that is no such list.
  static func read(_ field: Bytes) -> [(tag: UInt16, data: Bytes)]? {
    var cursor = Cursor(field)
    var items: [(tag: UInt16, data: Bytes)] = []
    do {
      while cursor.remaining > 0 {
        let tag: UInt16 = try cursor.integer()
        guard tag >= items.last?.tag ?? 0 else { return nil }
        items.append((tag, try cursor.lp32()))
      }
    } catch { return nil }
    return items
  }
}
