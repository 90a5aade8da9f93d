#ifndef ADIT_SERVER_UNSUPPORTED_FIELDS_H_
#define ADIT_SERVER_UNSUPPORTED_FIELDS_H_

#include "server/api_request.h"
#include "server/json_fields.h"

namespace adit::server {

// Fails for a field that clients of this interface know and this build does not support, unless it has the value that
// asks for nothing.
void RefuseUnsupported(FieldReader& reader, ApiKind kind);

}  // namespace adit::server

#endif  // ADIT_SERVER_UNSUPPORTED_FIELDS_H_
