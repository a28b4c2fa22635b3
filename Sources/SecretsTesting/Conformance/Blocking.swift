/// Runs `body`, which the compiler treats as code that is not `async`: it may assign to properties and subscripts of a
/// store.
func blocking<R>(_ body: () throws -> R) rethrows -> R { try body() }
