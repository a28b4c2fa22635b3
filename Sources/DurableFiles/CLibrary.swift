// The system's C library, for this target and for all that import it. No other file imports one (`Scripts/imports`
// checks this).
#if canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Musl)
  @_exported public import Musl
#elseif canImport(Darwin)
  @_exported public import Darwin
#endif
