// The system's C library, for this target and for all that import it. No other file imports one (`Scripts/imports`
// checks this).
#if canImport(Glibc)
  @_exported public import Glibc
#else
  #error("SecretPreferences needs Linux with the GNU C library: Docs/Decisions/0082")
#endif
