#include "base/worker_team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <vector>

#include "base/cpus.h"

namespace adit {
namespace {

TEST(WorkerTeam, RefusesSizesOutsideItsRange) {
  EXPECT_EQ(WorkerTeam::Create(0).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(WorkerTeam::Create(WorkerTeam::kMaxWorkers + 1).status().code(), StatusCode::kInvalidArgument);
}

TEST(WorkerTeam, EachPieceIsClaimedOnceInEveryPhase) {
  for (int size : {1, 2, 5}) {
    auto team = WorkerTeam::Create(size);
    ASSERT_TRUE(team.ok());
    constexpr int kPieces = 37;
    constexpr int kPhases = 50;
    std::vector<std::atomic<int>> claims(kPieces * kPhases);
    (*team)->Run([&](Worker& worker) {
      for (int phase = 0; phase < kPhases; ++phase) {
        for (int64_t piece; (piece = worker.Claim()) < kPieces;) claims[phase * kPieces + piece].fetch_add(1);
        worker.Barrier();
      }
    });
    for (const auto& count : claims) EXPECT_EQ(count.load(), 1) << "team of " << size;
  }
}

TEST(WorkerTeam, BarrierMakesWritesVisible) {
  auto team = WorkerTeam::Create(4);
  ASSERT_TRUE(team.ok());
  std::vector<int> slots(4, 0);
  std::atomic<int> wrong{0};
  (*team)->Run([&](Worker& worker) {
    for (int round = 1; round <= 500; ++round) {
      slots[worker.index()] = round;
      worker.Barrier();
      for (int value : slots) wrong += value != round;
      worker.Barrier();
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST(WorkerTeam, RunsManyRegionsOneAfterAnother) {
  auto team = WorkerTeam::Create(3);
  ASSERT_TRUE(team.ok());
  std::atomic<int> calls{0};
  for (int i = 0; i < 200; ++i) (*team)->Run([&](Worker&) { calls.fetch_add(1); });
  EXPECT_EQ(calls.load(), 600);
}

TEST(WorkerTeam, BindsEachWorkerToACpuOfItsOwnWhereThereAreAsMany) {
  const std::vector<int> cpus = AllowedCpus();
  const auto size = static_cast<int>(cpus.size());
  if (size < 2 || size > WorkerTeam::kMaxWorkers) GTEST_SKIP() << "this process may use " << size << " CPUs";
  auto team = WorkerTeam::Create(size);
  ASSERT_TRUE(team.ok());
  EXPECT_TRUE((*team)->bound());
  std::vector<std::vector<int>> seen(cpus.size());
  (*team)->Run([&](Worker& worker) { seen[static_cast<size_t>(worker.index())] = AllowedCpus(); });
  for (size_t i = 0; i < cpus.size(); ++i) EXPECT_EQ(seen[i], std::vector<int>{cpus[i]});
  EXPECT_EQ(AllowedCpus(), cpus) << "the caller is bound no longer than the region lasts";
}

TEST(WorkerTeam, LeavesWorkersWhereTheyAreOtherwise) {
  const std::vector<int> cpus = AllowedCpus();
  const auto size = static_cast<int>(cpus.size());
  for (const auto& [num_workers, placement] :
       {std::pair(size, Placement::kFree), std::pair(size + 1, Placement::kBound), std::pair(1, Placement::kBound)}) {
    if (num_workers > WorkerTeam::kMaxWorkers) continue;
    auto team = WorkerTeam::Create(num_workers, placement);
    ASSERT_TRUE(team.ok());
    EXPECT_FALSE((*team)->bound());
    std::atomic<int> others{0};
    (*team)->Run([&](Worker&) { others += AllowedCpus() != cpus; });
    EXPECT_EQ(others.load(), 0) << num_workers;
  }
}

// One member comes to each barrier about when the other has waited long enough to go to sleep, and has to wake it
// whether it sleeps already or is only about to.
TEST(WorkerTeam, WakesAMemberThatIsJustGoingToSleep) {
  using Clock = std::chrono::steady_clock;
  auto team = WorkerTeam::Create(2);
  ASSERT_TRUE(team.ok());
  std::atomic<int> barriers{0};
  (*team)->Run([&](Worker& worker) {
    for (int i = 0; i < 10000; ++i) {
      if (worker.index() == i % 2) {
        const auto until = Clock::now() + std::chrono::nanoseconds(20000 + i * 7919 % 120000);
        while (Clock::now() < until) {
        }
        barriers.fetch_add(1);
      }
      worker.Barrier();
    }
  });
  EXPECT_EQ(barriers.load(), 10000);
}

}  // namespace
}  // namespace adit
