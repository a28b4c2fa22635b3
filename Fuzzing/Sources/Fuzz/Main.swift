import Glibc

/// The target that the environment names, FUZZ_TARGET; read once.
private nonisolated(unsafe) let target: any FuzzTarget = {
  guard let text = getenv("FUZZ_TARGET"), let name = FuzzTargetName(rawValue: String(cString: text)) else {
    fatalError("FUZZ_TARGET names none of \(FuzzTargetName.allCases.map(\.rawValue))")
  }
  do { return try name.make() } catch { fatalError("the target \(name) was not made: \(error)") }
}()

/// What libFuzzer calls with each input. A broken promise ends the process, which is how it learns of one.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafeRawPointer?, _ count: Int) -> CInt {
  do { try target.check(UnsafeRawBufferPointer(start: bytes, count: count)) } catch { fatalError("\(error)") }
  return 0
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ target: @convention(c) (UnsafeRawPointer?, Int) -> CInt
) -> CInt

/// The entry point, which the package manager calls by the target's name.
@_cdecl("Fuzz_main")
public func main(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt {
  var (count, arguments) = (count, arguments)
  return runDriver(&count, &arguments, testOneInput)
}
