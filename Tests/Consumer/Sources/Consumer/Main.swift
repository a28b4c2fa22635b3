import OrdinaryAlone
import OrdinaryBeside
import OrdinaryWithin

/// Shows that ordinary lines mean the same in a file that imports every module of this package.
@main struct Consumer {
  static func main() throws {
    let alone = OrdinaryAlone.ordinaryLines()
    for lines in [OrdinaryBeside.ordinaryLines(), OrdinaryWithin.ordinaryLines()] {
      guard alone.count > 200, alone.count == lines.count else { throw Failure("ordinary lines are missing") }
      for (line, other) in zip(alone, lines) where line != other {
        throw Failure("an ordinary line means something else: \(line) became \(other)")
      }
    }
    print("consumer: ok")
  }
}

private struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
