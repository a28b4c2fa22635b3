// The QR code generator of Project Nayuki, for the tool. It allocates nothing: its caller's buffers are guarded memory.
#include <qrcodegen/qrcodegen.h>

// The macro, which Swift does not see.
enum { cqrcodes_buffer_length = qrcodegen_BUFFER_LEN_MAX };
