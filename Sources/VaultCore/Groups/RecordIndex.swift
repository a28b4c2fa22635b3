/// Finds records by name and lists them in order. The records are views: the group owns their bytes.
///
/// A hash table of positions, so that a lookup costs the same with a hundred records and with a million, and an order
/// that is updated only when records are listed. Not copyable, so that a lookup in a property retains no array.
struct RecordIndex: ~Copyable {
  private var records: ContiguousArray<Record> = []
  private var isPresent: ContiguousArray<Bool> = []
  /// Positions in `records` plus one; zero is free. A record that is taken out keeps its place for its name.
  private var table: ContiguousArray<UInt32> = []
  private var ordered: ContiguousArray<UInt32> = []
  private(set) var count = 0
  /// The positions of the records that are removed and kept.
  private var removed: Set<Int> = []

  init(capacity: Int = 0) {
    records.reserveCapacity(capacity)
    isPresent.reserveCapacity(capacity)
    ordered.reserveCapacity(capacity)
    table = ContiguousArray(repeating: 0, count: Self.tableCount(for: capacity))
  }

  /// The record of that name; `nil` when there is none.
  func find(_ name: borrowing RecordName) -> Record? {
    guard let position = position(of: name, hash: name.hash), isPresent[position] else { return nil }
    return records[position]
  }

  /// Appends a record known to be new and above all others in order. For loading a section.
  mutating func appendLast(_ record: Record) {
    ordered.append(UInt32(records.count))
    insert(record)
  }

  /// Adds a record, or replaces the record with the same name.
  mutating func put(_ record: Record) {
    if let position = position(of: record.name, hash: record.hash) {
      if record.isRemoved { removed.insert(position) } else { removed.remove(position) }
      records[position] = record
      if !isPresent[position] {
        isPresent[position] = true
        count += 1
      }
    } else {
      insert(record)
    }
  }

  /// Takes the record of that name out, if there is one.
  mutating func remove(_ name: borrowing RecordName) {
    guard let position = position(of: name, hash: name.hash), isPresent[position] else { return }
    isPresent[position] = false
    removed.remove(position)
    count -= 1
  }

  /// How many of the records are removed and kept.
  var removedCount: Int { removed.count }

  /// Calls `body` with each record that is removed and kept, in any order, until it returns `false`.
  func forEachRemoved<E: Error>(_ body: (Record) throws(E) -> Bool) throws(E) {
    for position in removed { if try !body(records[position]) { return } }
  }

  /// Calls `body` with each record in order.
  mutating func forEachInOrder<E: Error>(_ body: (Record) throws(E) -> Void) throws(E) {
    sort()
    for position in ordered where isPresent[Int(position)] { try body(records[Int(position)]) }
  }

  private mutating func insert(_ record: Record) {
    if (records.count + 1) * 2 > table.count { grow() }
    records.append(record)
    isPresent.append(true)
    if record.isRemoved { removed.insert(records.count - 1) }
    count += 1
    place(UInt32(records.count), hash: record.hash)
  }

  private mutating func grow() {
    table = ContiguousArray(repeating: 0, count: Self.tableCount(for: (records.count + 1) * 2))
    for (position, record) in records.enumerated() { place(UInt32(position + 1), hash: record.hash) }
  }

  private mutating func place(_ entry: UInt32, hash: UInt32) {
    let mask = table.count - 1
    var slot = Int(hash) & mask
    while table[slot] != 0 { slot = (slot + 1) & mask }
    table[slot] = entry
  }

  private func position(of name: borrowing RecordName, hash: UInt32) -> Int? {
    let mask = table.count - 1
    var slot = Int(hash) & mask
    while table[slot] != 0 {
      let position = Int(table[slot]) - 1
      let record = records[position]
      if record.hash == hash, record.name == name { return position }
      slot = (slot + 1) & mask
    }
    return nil
  }

  /// Merges the records that were added since the last call into the order.
  private mutating func sort() {
    guard ordered.count < records.count else { return }
    var fresh = (UInt32(ordered.count)..<UInt32(records.count)).map { $0 }
    fresh.sort { records[Int($0)].name < records[Int($1)].name }
    var merged: ContiguousArray<UInt32> = []
    merged.reserveCapacity(records.count)
    var rest = ordered[...]
    for position in fresh {
      while let first = rest.first, records[Int(first)].name < records[Int(position)].name {
        merged.append(rest.removeFirst())
      }
      merged.append(position)
    }
    merged.append(contentsOf: rest)
    ordered = merged
  }

  private static func tableCount(for capacity: Int) -> Int {
    var count = 16
    while count < capacity * 2 { count *= 2 }
    return count
  }
}
