// What every caller of a vault handles: its errors, which the sealing beneath it throws, too.
@_exported public import struct VaultSealing.VaultError
