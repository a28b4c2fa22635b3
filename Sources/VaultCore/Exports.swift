// Every error of a vault has a class.
@_exported public import protocol DurableFiles.ClassifiedError
@_exported public import struct DurableFiles.FailureClass
