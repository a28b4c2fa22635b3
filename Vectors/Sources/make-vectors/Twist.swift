/// How one sealed thing departs from the rule; not at all by default.
struct Twist {
  /// Another key than the right one.
  var key: Bytes?
  /// Changes the context items of 2.3; the first is the word that names the object.
  var context: ((inout [Bytes]) -> Void)?
  /// Stands in place of PAD.
  var padded: ((Bytes) -> Bytes)?
  /// Changes the box, and makes the tag right for it.
  var box: ((inout Bytes) -> Void)?
  /// Changes the sealed bytes, and leaves the tag as it was.
  var sealed: ((inout Bytes) -> Void)?

  func seal(_ message: Bytes, key: Bytes, context items: [Bytes], random: Bytes) -> Bytes {
    let key = self.key ?? key
    var items = items
    context?(&items)
    var out = Sealing.seal(message, key: key, context: items, random: random)
    if let box { out = Sealing.retagged(out, key: key, context: items, box) }
    sealed?(&out)
    return out
  }

  func sealBody(_ body: Bytes, step: Int, key: Bytes, context: [Bytes], random: Bytes) -> Bytes {
    seal(padded?(body) ?? Sealing.pad(body, step: step), key: key, context: context, random: random)
  }
}
