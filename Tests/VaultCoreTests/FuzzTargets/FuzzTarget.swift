/// One parser with the promises that it has to keep for any bytes at all.
///
/// The same code runs under the fuzzer (`Scripts/fuzz`) and, over the inputs in `Fuzzing/Corpus`, in the tests.
protocol FuzzTarget {
  init() throws

  /// Parses `input` and looks at what comes out.
  /// - Throws: ``Violation`` when a promise is broken.
  func check(_ input: UnsafeRawBufferPointer) throws
}
