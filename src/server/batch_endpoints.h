#ifndef ADIT_SERVER_BATCH_ENDPOINTS_H_
#define ADIT_SERVER_BATCH_ENDPOINTS_H_

#include <memory>

#include "server/batch_queue.h"

namespace adit::server {

class Service;

// What the service's queue of batches has to know of it. The service outlives the host.
std::unique_ptr<BatchHost> MakeBatchHost(Service& service);

}  // namespace adit::server

#endif  // ADIT_SERVER_BATCH_ENDPOINTS_H_
