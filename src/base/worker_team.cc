#include "base/worker_team.h"

#include <sched.h>

#include <system_error>
#include <utility>

#include "base/cpus.h"
#include "base/error.h"

namespace adit {
namespace {

// About 2000 pauses are 20 to 80 microseconds on current CPUs: longer than the uneven end of a phase, shorter than a
// time slice. Then some yields let a descheduled team member run; then the thread sleeps.
constexpr int kSpins = 2000;
constexpr int kYields = 20;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Raises `value` and wakes those who wait for that. Sequentially consistent, for notify_all asks only whether anybody
// sleeps (libstdc++): a weaker store could still be on its way when that is read, and the one who just went to sleep on
// the old value would sleep for ever.
void Raise(std::atomic<uint32_t>& value) {
  value.fetch_add(1, std::memory_order_seq_cst);
  value.notify_all();
}

// Returns once `value` is no longer `old`.
void AwaitChange(const std::atomic<uint32_t>& value, uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    Pause();
  }
  for (int i = 0; i < kYields; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    sched_yield();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

int Worker::count() const { return team_->size_; }
void Worker::Barrier() { team_->Arrive(); }
int64_t Worker::Claim() { return team_->next_piece_.fetch_add(1, std::memory_order_relaxed); }

Result<std::unique_ptr<WorkerTeam>> WorkerTeam::Create(int num_workers, Placement placement) {
  if (num_workers < 1 || num_workers > kMaxWorkers) {
    return InvalidArgument("threads: {} is not in 1..{}", num_workers, kMaxWorkers);
  }
  std::vector<int> cpus = AllowedCpus();
  if (placement == Placement::kFree || num_workers == 1 || std::cmp_not_equal(cpus.size(), num_workers)) cpus.clear();
  std::unique_ptr<WorkerTeam> team(new WorkerTeam(num_workers, std::move(cpus)));
  try {
    for (int i = 1; i < num_workers; ++i) team->threads_.emplace_back(&WorkerTeam::ThreadMain, team.get(), i);
  } catch (const std::system_error& error) {
    return ResourceExhausted("threads: the system gave {} of {} threads: {}", team->threads_.size() + 1, num_workers,
                             error.what());
  }
  return team;
}

WorkerTeam::~WorkerTeam() {
  stopping_ = true;
  Raise(region_);
  for (std::thread& thread : threads_) thread.join();
}

void WorkerTeam::RunErased(BodyFn body, const void* state) {
  const CpuBinding binding(CpuOf(0));
  body_ = body;
  state_ = const_cast<void*>(state);
  if (size_ > 1) Raise(region_);
  Worker self(this, 0);
  body(state_, self);
  Arrive();
}

void WorkerTeam::ThreadMain(int index) {
  const CpuBinding binding(CpuOf(index));
  uint32_t seen = 0;
  Worker self(this, index);
  while (true) {
    AwaitChange(region_, seen);
    ++seen;
    if (stopping_) return;
    body_(state_, self);
    Arrive();
  }
}

void WorkerTeam::Arrive() {
  if (size_ == 1) {
    next_piece_.store(0, std::memory_order_relaxed);
    return;
  }
  const uint32_t generation = generation_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
    arrived_.store(0, std::memory_order_relaxed);
    next_piece_.store(0, std::memory_order_relaxed);
    Raise(generation_);
    return;
  }
  AwaitChange(generation_, generation);
}

}  // namespace adit
