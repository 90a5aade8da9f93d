#ifndef ADIT_ENGINE_ENGINE_OPTIONS_H_
#define ADIT_ENGINE_ENGINE_OPTIONS_H_

#include <cstddef>
#include <cstdint>

#include "engine/kv_types.h"
#include "sched/options.h"

namespace adit::engine {

struct EngineOptions {
  // Policy, batching, limits and tenants. The engine fills in `groups`; max_context 0 stands for the model's own.
  sched::SchedulerOptions scheduler;
  KvTypes kv_types;
  int block_size = 16;          // tokens to a page
  int64_t kv_tokens = 0;        // tokens that the cache holds, all sequences together
  size_t event_capacity = 128;  // token events of a request that wait for a slow reader before it gets no more steps
  size_t max_inbox = 4096;      // requests that have been submitted and not yet looked at by the engine thread
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_ENGINE_OPTIONS_H_
