#ifndef ADIT_BASE_WORKER_TEAM_H_
#define ADIT_BASE_WORKER_TEAM_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "adit/status.h"

namespace adit {

class WorkerTeam;

// One member's view of a running parallel region.
class Worker {
 public:
  int index() const { return index_; }
  int count() const;

  // Waits until every worker of the team has come here. All memory written before is visible after.
  void Barrier();

  // The next piece of the present phase, counted from 0; each piece goes to exactly one worker. Phases are what lies
  // between barriers: after each Barrier the count starts at 0 again.
  int64_t Claim();

  // Calls body(row) of all workers together once for each row of 0..num_rows-1, in runs of neighbouring rows: with one
  // claim for each row the workers would wait for the counter. Takes the claims of a phase.
  template <typename Body>
  void ForRows(int64_t num_rows, Body&& body) {
    const int64_t run = std::max<int64_t>(1, num_rows / (int64_t{count()} * kRunsPerWorker));
    for (int64_t begin; (begin = Claim() * run) < num_rows;) {
      const int64_t end = std::min(begin + run, num_rows);
      for (int64_t row = begin; row < end; ++row) body(row);
    }
  }

 private:
  friend class WorkerTeam;
  // Enough that one held up by another process leaves little behind.
  static constexpr int kRunsPerWorker = 4;

  Worker(WorkerTeam* team, int index) : team_(team), index_(index) {}

  WorkerTeam* team_;
  int index_;
};

// Where the workers of a team run.
enum class Placement {
  kBound,  // each on a CPU of its own when there are as many CPUs as workers; when there are more CPUs, as kFree
  kFree,   // where the system puts them
};

// A fixed set of threads that run one function together and meet at barriers; a whole forward pass is one region, so
// nothing forks or joins inside it. A waiting thread spins a little (a barrier of a decode step is microseconds long),
// then yields, then sleeps, so that a busy machine loses no more than its share. Run is called by one thread at a time,
// which takes part as worker 0.
class WorkerTeam {
 public:
  static constexpr int kMaxWorkers = 256;

  // num_workers in 1..kMaxWorkers, else InvalidArgument. ResourceExhausted when the system gives no thread.
  static Result<std::unique_ptr<WorkerTeam>> Create(int num_workers, Placement placement = Placement::kBound);
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;

  int size() const { return size_; }
  // Whether each worker has a CPU of its own.
  bool bound() const { return !cpus_.empty(); }

  // Calls body(worker) on every worker and returns when all have returned. `body` must not throw.
  template <typename Body>
  void Run(Body&& body) {
    using Type = std::remove_reference_t<Body>;
    RunErased([](void* state, Worker& worker) { (*static_cast<Type*>(state))(worker); }, &body);
  }

 private:
  friend class Worker;
  using BodyFn = void (*)(void*, Worker&);

  WorkerTeam(int size, std::vector<int> cpus) : size_(size), cpus_(std::move(cpus)) {}
  int CpuOf(int index) const { return cpus_.empty() ? -1 : cpus_[static_cast<size_t>(index)]; }
  void RunErased(BodyFn body, const void* state);
  void ThreadMain(int index);
  void Arrive();

  // Constant after construction.
  const int size_;
  const std::vector<int> cpus_;  // of each worker; empty: anywhere
  std::vector<std::thread> threads_;

  // Written by the caller of RunErased before it raises region_, read by workers after.
  BodyFn body_ = nullptr;
  void* state_ = nullptr;
  bool stopping_ = false;

  // Each on its own cache line: region_ and generation_ are spun on, the counters are written by all.
  alignas(64) std::atomic<uint32_t> region_{0};      // raised on start of a region, acquire by workers
  alignas(64) std::atomic<uint32_t> generation_{0};  // raised by the last to arrive, acquire by the others
  alignas(64) std::atomic<int> arrived_{0};          // acq_rel: the last to arrive has seen all others' writes
  alignas(64) std::atomic<int64_t> next_piece_{0};   // relaxed: reset only while all others wait at the barrier
};

}  // namespace adit

#endif  // ADIT_BASE_WORKER_TEAM_H_
