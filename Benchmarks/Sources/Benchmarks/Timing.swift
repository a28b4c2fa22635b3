import Glibc

/// Nanoseconds of one call, as the median of many runs.
enum Timing {
  static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  /// Measures several bodies in turns, so that drift of the machine meets all of them alike.
  ///
  /// - Parameters:
  ///   - rounds: how often each is measured; the median counts.
  ///   - calls: how many calls a measurement takes together.
  static func medians(rounds: Int, calls: Int, _ bodies: [() throws -> Void]) throws -> [Double] {
    var times = bodies.map { _ in [Double]() }
    for body in bodies { try body() }
    for _ in 0..<rounds {
      for (index, body) in bodies.enumerated() {
        let start = now()
        for _ in 0..<calls { try body() }
        times[index].append((now() - start) / Double(calls))
      }
    }
    return times.map(median)
  }

  static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
