#include "engine/event_stream.h"

#include <utility>

namespace adit::engine {
namespace {

// Events beside tokens that a request may have at once: an end for each answer, and the last one.
constexpr size_t kEnds = 130;

}  // namespace

EventStream::EventStream(size_t capacity, std::function<void()> wake_engine)
    : wake_engine_(std::move(wake_engine)), capacity_(capacity) {}

void EventStream::Push(Event event) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (count_ == ring_.size()) {
      // At the first event; later only for a request that tells more at once than HasRoom was asked for.
      std::vector<Event> larger(ring_.empty() ? capacity_ + kEnds : ring_.size() * 2);
      for (size_t i = 0; i < count_; ++i) larger[i] = std::move(ring_[(head_ + i) % ring_.size()]);
      ring_ = std::move(larger);
      head_ = 0;
    }
    first = count_ == 0;
    ring_[(head_ + count_) % ring_.size()] = std::move(event);
    ++count_;
  }
  if (!first) return;
  ready_.notify_one();
  if (on_ready_) on_ready_();
}

bool EventStream::HasRoom(size_t count) {
  const std::lock_guard lock(mutex_);
  engine_waits_ = count_ > 0 && count_ + count > capacity_;
  return !engine_waits_;
}

std::optional<Event> EventStream::Take(std::unique_lock<std::mutex>& lock) {
  if (count_ == 0) return std::nullopt;
  std::optional<Event> event(std::move(ring_[head_]));
  head_ = (head_ + 1) % ring_.size();
  --count_;
  ended_ = event->kind == Event::Kind::kDone || event->kind == Event::Kind::kError;
  // Not at every event: a reader that is a little slow would make the engine stop and go.
  const bool wake = engine_waits_ && count_ <= capacity_ / 2;
  if (wake) engine_waits_ = false;
  lock.unlock();
  if (wake) wake_engine_();
  return event;
}

std::optional<Event> EventStream::Next() {
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [this] { return count_ > 0 || ended_; });
  return Take(lock);
}

std::optional<Event> EventStream::TryNext() {
  std::unique_lock lock(mutex_);
  return Take(lock);
}

}  // namespace adit::engine
