#include "server/model_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/test_source.h"

namespace adit::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What a model of these tests needs: its weights and the least that it gets beside them.
constexpr int64_t kNeeded = (int64_t{10} + 64) << 20;

class ModelPoolTest : public testing::Test {
 protected:
  void Start(std::vector<ModelEntry> entries, int64_t budget_bytes, double retry_failed_s = 0.0) {
    auto source = std::make_unique<TestSource>();
    source_ = source.get();
    const bool is_single = entries.size() == 1;
    pool_ = std::make_unique<ModelPool>(
        std::move(entries),
        ModelPoolOptions{.budget_bytes = budget_bytes, .is_single = is_single, .retry_failed_s = retry_failed_s},
        std::move(source));
  }
  std::function<void()> wake() {
    return [this] {
      const std::lock_guard lock(mutex_);
      woken_.notify_all();
    };
  }
  PoolTicket::Outcome Wait(const TicketPtr& ticket) {
    std::unique_lock lock(mutex_);
    woken_.wait(lock, [&] { return ticket->outcome().has_value(); });
    return *ticket->outcome();
  }
  PoolTicket::Outcome Ask(const std::string& name) { return Wait(pool_->Ask(name, wake())); }
  ModelState StateOf(const std::string& name) { return pool_->Find(name)->state; }
  // The model's memory is let go by the pool's thread.
  void WaitUntil(const std::function<bool()>& is_so) {
    while (!is_so()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::mutex mutex_;
  std::condition_variable woken_;
  std::unique_ptr<ModelPool> pool_;
  TestSource* source_ = nullptr;
};

TEST_F(ModelPoolTest, AModelIsLoadedOnceForAllWhoAskFirst) {
  Start({{.name = "a", .aliases = {"x"}, .source = "a"}, {.name = "b", .source = "b"}}, 10 * kNeeded);
  EXPECT_EQ(StateOf("a"), ModelState::kUnloaded);
  source_->Hold(true);
  std::vector<TicketPtr> tickets;
  for (const char* name : {"a", "x", "", "a"}) tickets.push_back(pool_->Ask(name, wake()));
  source_->WaitForLoad("a");
  EXPECT_EQ(StateOf("a"), ModelState::kLoading);
  for (const TicketPtr& ticket : tickets) EXPECT_FALSE(ticket->outcome());
  source_->Hold(false);
  for (const TicketPtr& ticket : tickets) EXPECT_EQ(Wait(ticket).lease->name(), "a");
  EXPECT_EQ(source_->num_loads("a"), 1);
  EXPECT_EQ(source_->num_loads("b"), 0);
  EXPECT_EQ(StateOf("x"), ModelState::kLoaded);
}

TEST_F(ModelPoolTest, AnUnknownModelIsToldOfWithThoseThereAre) {
  Start({{.name = "a", .aliases = {"x"}, .source = "a"}, {.name = "b", .source = "b"}}, 10 * kNeeded);
  const PoolTicket::Outcome outcome = Ask("c");
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->status, 404);
  EXPECT_EQ(outcome.error->code, "model_not_found");
  EXPECT_THAT(outcome.error->message, HasSubstr("'c' is not served here; there is 'a', 'x', 'b'"));
}

TEST_F(ModelPoolTest, TheLeastRecentlyUsedMakesRoom) {
  const int64_t memory_bytes = ServeTiny("x")->memory_bytes();
  // Room for two and the need of a third, not for the memory of three.
  Start({{.name = "a", .source = "a"}, {.name = "b", .source = "b"}, {.name = "c", .source = "c"}},
        kNeeded + memory_bytes + memory_bytes / 2);
  for (const char* name : {"a", "b", "a"}) EXPECT_EQ(Ask(name).lease->name(), name);
  EXPECT_EQ(StateOf("b"), ModelState::kLoaded) << "there is room for both";
  // The pool's thread may still hold the tickets that it has settled.
  for (const char* name : {"a", "b"}) WaitUntil([&] { return pool_->Find(name)->num_leases == 0; });
  EXPECT_THAT(pool_->PlanLoad("c")->unloads, ElementsAre("b"));
  EXPECT_EQ(Ask("c").lease->name(), "c");
  EXPECT_EQ(StateOf("a"), ModelState::kLoaded);
  EXPECT_EQ(StateOf("b"), ModelState::kUnloaded);
}

TEST_F(ModelPoolTest, AModelInUseStaysUntilItsLeaseIsGone) {
  // Room for one: its own memory and the need of another are more than there is.
  Start({{.name = "a", .source = "a"}, {.name = "b", .source = "b"}}, kNeeded);
  PoolTicket::Outcome a = Ask("a");
  TicketPtr b = pool_->Ask("b", wake());
  WaitUntil([this] { return StateOf("a") == ModelState::kUnloaded; });
  EXPECT_FALSE(b->outcome()) << "it waits for the memory of a";
  // Who asks for it meanwhile gets it anew.
  const TicketPtr again = pool_->Ask("a", wake());
  EXPECT_FALSE(again->outcome());
  EXPECT_EQ(a.lease->name(), "a") << "it can be used as before";
  a.lease.reset();
  EXPECT_EQ(Wait(b).lease->name(), "b");
  b.reset();  // which held it
  EXPECT_EQ(Wait(again).lease->name(), "a");
  EXPECT_EQ(source_->num_loads("a"), 2);
}

TEST_F(ModelPoolTest, APinnedModelStays) {
  Start({{.name = "a", .source = "a", .pinned = true}, {.name = "b", .source = "b"}}, kNeeded);
  EXPECT_TRUE(Ask("a").status.ok());
  const PoolTicket::Outcome b = Ask("b");
  EXPECT_EQ(b.status.code(), StatusCode::kResourceExhausted);
  ASSERT_TRUE(b.error);
  EXPECT_EQ(b.error->status, 507);
  EXPECT_EQ(b.error->code, "insufficient_memory");
  EXPECT_EQ(StateOf("b"), ModelState::kFailed);
  EXPECT_FALSE(pool_->PlanLoad("b")->fits);
  ASSERT_TRUE(pool_->Pin("a", false).ok());
  const Result<ModelPool::Plan> plan = pool_->PlanLoad("b");
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->fits);
  EXPECT_THAT(plan->unloads, ElementsAre("a"));
  EXPECT_EQ(Ask("b").lease->name(), "b");
  EXPECT_EQ(StateOf("a"), ModelState::kUnloaded);
  EXPECT_FALSE(pool_->Pin("c", true).ok());
}

TEST_F(ModelPoolTest, EachGetsItsShareOfTheMemory) {
  Start({{.name = "a", .source = "a"}, {.name = "b", .source = "b"}}, 4 * kNeeded);
  EXPECT_TRUE(Ask("a").status.ok());
  EXPECT_EQ(source_->last_budget(), 2 * kNeeded);
  Start({{.name = "a", .source = "a"}}, 4 * kNeeded);
  EXPECT_TRUE(Ask("a").status.ok());
  EXPECT_EQ(source_->last_budget(), 0) << "the only one has all";
}

TEST_F(ModelPoolTest, WhatCannotBeLoadedIsTried) {
  Start({{.name = "bad", .source = "broken"}, {.name = "gone", .source = "missing"}}, 10 * kNeeded, /*retry=*/3600);
  const PoolTicket::Outcome outcome = Ask("bad");
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->status, 500);
  EXPECT_EQ(outcome.error->code, "model_load_failed");
  EXPECT_EQ(StateOf("bad"), ModelState::kFailed);
  EXPECT_EQ(pool_->Find("bad")->failure, "'bad' is broken");
  EXPECT_FALSE(Ask("bad").status.ok());
  EXPECT_EQ(source_->num_loads("broken"), 1) << "not again at once";
  EXPECT_FALSE(Wait(pool_->Load("bad", wake())).status.ok());
  EXPECT_EQ(source_->num_loads("broken"), 2) << "unless who administers asks for it";
  EXPECT_EQ(Ask("gone").error->status, 404);
}

TEST_F(ModelPoolTest, AtTheStartRequestsAreToldHowFarItIs) {
  Start({{.name = "a", .source = "a", .at_start = true}, {.name = "b", .source = "b"}}, 10 * kNeeded);
  EXPECT_TRUE(pool_->start_progress().has_value()) << "from the first moment on";
  source_->Hold(true);
  std::thread starter([this] { EXPECT_TRUE(pool_->LoadAtStart().ok()); });
  source_->WaitForLoad("a");
  const PoolTicket::Outcome early = *pool_->Ask("a", wake())->outcome();
  ASSERT_TRUE(early.error);
  EXPECT_EQ(early.error->status, 503);
  EXPECT_EQ(early.error->code, "model_loading");
  EXPECT_EQ(pool_->start_progress(), 0.25);
  source_->Hold(false);
  starter.join();
  EXPECT_FALSE(pool_->start_progress());
  EXPECT_EQ(Ask("a").lease->name(), "a");
  Start({{.name = "a", .source = "broken", .at_start = true}}, 10 * kNeeded);
  EXPECT_EQ(pool_->LoadAtStart().code(), StatusCode::kCorrupt);
}

TEST_F(ModelPoolTest, ASwapGoesUnseenByWhoUsesIt) {
  Start({{.name = "a", .source = "a"}, {.name = "b", .source = "b"}}, 10 * kNeeded);
  PoolTicket::Outcome old = Ask("a");
  source_->Hold(true);
  const TicketPtr swap = pool_->Swap("a", "store/new", wake());
  source_->WaitForLoad("store/new");
  EXPECT_EQ(Ask("a").lease.get(), old.lease.get()) << "the old one answers while the new one is loaded";
  source_->Hold(false);
  EXPECT_TRUE(Wait(swap).status.ok());
  const PoolTicket::Outcome fresh = Ask("a");
  EXPECT_NE(fresh.lease.get(), old.lease.get());
  EXPECT_EQ(old.lease->name(), "a") << "and stays for those who have it";
  old.lease.reset();
  EXPECT_EQ(pool_->Find("a")->entry.source, "store/new");
  EXPECT_EQ(Wait(pool_->Swap("a", "elsewhere", wake())).status.code(), StatusCode::kNotFound);
  EXPECT_EQ(Wait(pool_->Swap("c", "store/new", wake())).status.code(), StatusCode::kNotFound);
}

TEST_F(ModelPoolTest, ASwapWithoutRoomForBothLetsTheOldOneGoFirst) {
  Start({{.name = "a", .source = "a"}, {.name = "b", .source = "b"}}, kNeeded);
  PoolTicket::Outcome old = Ask("a");
  const TicketPtr swap = pool_->Swap("a", "store/new", wake());
  WaitUntil([this] { return StateOf("a") == ModelState::kLoading; });
  const TicketPtr waiting = pool_->Ask("a", wake());
  EXPECT_FALSE(waiting->outcome());
  old.lease.reset();
  EXPECT_TRUE(Wait(swap).status.ok());
  EXPECT_TRUE(Wait(waiting).status.ok());
  EXPECT_EQ(source_->num_loads("store/new"), 1);
}

TEST_F(ModelPoolTest, WhoAdministersLoadsUnloadsAndRemoves) {
  Start({{.name = "a", .source = "a"}}, 10 * kNeeded);
  EXPECT_TRUE(Wait(pool_->Load("a", wake())).status.ok());
  EXPECT_TRUE(Wait(pool_->Load("store/more", wake())).status.ok());
  EXPECT_EQ(pool_->List().size(), 2U);
  EXPECT_EQ(Wait(pool_->Load("/etc/passwd", wake())).status.code(), StatusCode::kNotFound);
  EXPECT_TRUE(Wait(pool_->Unload("a", wake())).status.ok());
  EXPECT_EQ(StateOf("a"), ModelState::kUnloaded);
  EXPECT_TRUE(Wait(pool_->Unload("a", wake())).status.ok()) << "it is no error that it is so already";
  EXPECT_TRUE(Wait(pool_->Remove("a", wake())).status.ok());
  EXPECT_FALSE(pool_->Find("a"));
  EXPECT_EQ(Wait(pool_->Remove("a", wake())).status.code(), StatusCode::kNotFound);
  EXPECT_EQ(Ask("").lease->name(), "store/more");
  EXPECT_TRUE(Wait(pool_->Remove("store/more", wake())).status.ok());
  EXPECT_EQ(Ask("").error->status, 404);
}

TEST_F(ModelPoolTest, FetchingIsToldOf) {
  Start({{.name = "a", .source = "a"}}, 10 * kNeeded);
  EXPECT_TRUE(Wait(pool_->Fetch("good", wake())).status.ok());
  EXPECT_EQ(Wait(pool_->Fetch("bad", wake())).status.code(), StatusCode::kIo);
  std::vector<std::string> told;
  int64_t last = 0;
  for (const PoolEvent& event : pool_->EventsAfter(0)) {
    EXPECT_EQ(event.number, last + 1);
    last = event.number;
    told.push_back(event.model + " " + event.what);
  }
  EXPECT_THAT(told, ElementsAre("good fetching", "good fetching", "good fetched", "bad fetching", "bad fetching",
                                "bad fetch_failed"));
  EXPECT_EQ(pool_->last_event(), last);
  EXPECT_TRUE(pool_->EventsAfter(last).empty());
}

TEST_F(ModelPoolTest, AtTheEndWhoWaitsIsTold) {
  Start({{.name = "a", .source = "a"}}, 10 * kNeeded);
  const TicketPtr endless = pool_->Fetch("endless", wake());
  const TicketPtr queued = pool_->Fetch("next", wake());
  source_->Hold(true);
  const TicketPtr loading = pool_->Ask("a", wake());
  source_->WaitForLoad("a");
  const TicketPtr unload = pool_->Unload("a", wake());
  std::thread ender([this] { pool_.reset(); });
  EXPECT_EQ(Wait(endless).status.code(), StatusCode::kCancelled);
  EXPECT_EQ(Wait(queued).status.code(), StatusCode::kCancelled);
  source_->Hold(false);
  EXPECT_EQ(Wait(loading).status.code(), StatusCode::kCancelled);
  ender.join();
  EXPECT_EQ(Wait(unload).status.code(), StatusCode::kCancelled);
}

TEST_F(ModelPoolTest, LoadingDoesNotHoldUpTheEnd) {
  Start({{.name = "a", .source = "endless"}}, 10 * kNeeded);
  const TicketPtr loading = pool_->Ask("a", wake());
  source_->WaitForLoad("endless");
  pool_.reset();
  EXPECT_EQ(Wait(loading).status.code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace adit::server
