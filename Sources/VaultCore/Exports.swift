// What seals a vault is no product of its own: its errors, guarded bytes and lengths are part of this one.
@_exported public import VaultSealing
// Every error of a vault has a class.
@_exported public import protocol DurableFiles.ClassifiedError
@_exported public import struct DurableFiles.FailureClass
