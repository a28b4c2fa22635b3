// SHA-1, SHA-256 and SHA-512 of libmd, for the one-time codes of the tool. The archive is linked: a shared library
// would add 0.2 ms to the start of every command.
#include <sys/types.h>
#include <sha1.h>
#include <sha2.h>
