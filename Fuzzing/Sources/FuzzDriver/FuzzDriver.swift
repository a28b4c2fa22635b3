import Glibc

/// The promises of one parser.
public typealias FuzzCheck = (UnsafeRawBufferPointer) throws -> Void

/// The check that the environment chose; set before libFuzzer starts.
private nonisolated(unsafe) var check: FuzzCheck = { _ in }

/// What libFuzzer calls with each input. A broken promise ends the process, which is how it learns of one.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafeRawPointer?, _ count: Int) -> CInt {
  do { try check(UnsafeRawBufferPointer(start: bytes, count: count)) } catch { fatalError("\(error)") }
  return 0
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ target: @convention(c) (UnsafeRawPointer?, Int) -> CInt
) -> CInt

/// Fuzzes the target that the environment names, FUZZ_TARGET.
///
/// - Parameter target: the check of a target by its name; `nil` for a name that no target has.
/// - Returns: The exit code of libFuzzer.
public func fuzz(
  _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
  target: (String) throws -> FuzzCheck?
) -> CInt {
  let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
  do {
    guard let found = try target(name) else { fatalError("FUZZ_TARGET names no target: \(name)") }
    check = found
  } catch { fatalError("the target \(name) was not made: \(error)") }
  var (count, arguments) = (count, arguments)
  return runDriver(&count, &arguments, testOneInput)
}
