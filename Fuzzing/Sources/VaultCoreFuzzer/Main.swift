import FuzzDriver

/// The entry point, which the package manager calls by the target's name.
@_cdecl("VaultCoreFuzzer_main")
public func main(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt {
  fuzz(count, arguments) { name in try FuzzTargetName(rawValue: name)?.make().check }
}
