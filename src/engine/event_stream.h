#ifndef ADIT_ENGINE_EVENT_STREAM_H_
#define ADIT_ENGINE_EVENT_STREAM_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "adit/status.h"
#include "engine/request.h"
#include "sample/sampler.h"

namespace adit::engine {

// The events of one request on their way from the engine thread to one reader. Bounded: when it is full the engine
// gives the request no more steps until the reader has taken something, so a slow reader delays itself alone.
class EventStream {
 public:
  // Room for at least `capacity` token events; `wake_engine` is called, on the reader's thread and without a lock held,
  // when a reader has made room in a full stream.
  EventStream(size_t capacity, std::function<void()> wake_engine);

  // Reader. Waits for the next event; after the last one, nothing.
  std::optional<Event> Next();
  // Nothing also when there is none yet.
  std::optional<Event> TryNext();
  // Set before the request is submitted: called on the engine's thread whenever there is something to read that was
  // not there before. Must not block.
  void SetOnReady(std::function<void()> on_ready) { on_ready_ = std::move(on_ready); }

  // Engine. Never refuses: the events that end a request come on top of the capacity.
  void Push(Event event);
  // True when `count` more token events fit, or nothing is there; otherwise the reader will wake the engine.
  bool HasRoom(size_t count);

 private:
  std::optional<Event> Take(std::unique_lock<std::mutex>& lock);

  const std::function<void()> wake_engine_;
  std::function<void()> on_ready_;

  std::mutex mutex_;
  std::condition_variable ready_;
  // Guarded by mutex_: a ring.
  std::vector<Event> ring_;
  size_t head_ = 0;
  size_t count_ = 0;
  size_t capacity_;
  bool engine_waits_ = false;
  bool ended_ = false;  // the last event has been read
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_EVENT_STREAM_H_
