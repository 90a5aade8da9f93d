#include "sched/test_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace adit::sched {

TestMachine::TestMachine(SchedulerOptions options, int32_t num_pages)
    : options_(std::move(options)),
      pool_(num_pages),
      memory_(static_cast<size_t>(num_pages * options_.groups.block_size), 0xdead) {
  auto scheduler = Scheduler::Create(options_, pool_);
  EXPECT_TRUE(scheduler.ok()) << scheduler.status().ToString();
  scheduler_ = std::move(scheduler).value();
}

TestMachine::~TestMachine() {
  while (!live_.empty()) Finish(*live_.begin()->second, false);
  scheduler_->ClearPrefixCache();
  EXPECT_EQ(pool_.num_free(), pool_.num_blocks());
}

Result<Sequence*> TestMachine::Submit(RequestSpec spec) {
  auto sequence = scheduler_->Submit(std::move(spec), now_s_);
  if (sequence.ok()) live_[(*sequence)->id] = *sequence;
  return sequence;
}

uint64_t TestMachine::Number(uint64_t before, uint64_t oldest, int32_t token, bool is_long) const {
  if (is_long) token += 1 << 20;
  uint64_t number = before * 0x9e3779b97f4a7c15u + oldest * 0xc2b2ae3d27d4eb4fu + static_cast<uint64_t>(token) + 1;
  number ^= number >> 29;
  number *= 0xbf58476d1ce4e5b9u;
  return number ^ (number >> 32);
}

uint64_t& TestMachine::Place(const Sequence& sequence, size_t group, int64_t position) {
  const int64_t block_size = options_.groups.block_size;
  const auto table = sequence.pages.block_tables()[group];
  const auto index = static_cast<size_t>(position / block_size);
  static uint64_t nowhere = 0;
  EXPECT_LT(index, table.size());
  if (index >= table.size()) return nowhere;
  EXPECT_GE(table[index], 0) << "position " << position << " was let go";
  if (table[index] < 0) return nowhere;
  return memory_[static_cast<size_t>(table[index] * block_size + position % block_size)];
}

void TestMachine::RunRows(const PlannedRows& rows) {
  const Sequence& sequence = *rows.sequence;
  EXPECT_EQ(rows.first_position, sequence.num_computed);
  EXPECT_GE(rows.num_tokens, 1);
  EXPECT_LE(rows.num_tokens, sequence.num_pending());
  for (size_t group = 0; group < options_.groups.windows.size(); ++group) {
    const int64_t window = options_.groups.windows[group];
    for (int64_t p = rows.first_position; p < rows.first_position + rows.num_tokens; ++p) {
      const uint64_t before = p == 0 ? group : Place(sequence, group, p - 1);
      const uint64_t oldest = window > 0 && p >= window ? Place(sequence, group, p - window + 1) : 0;
      Place(sequence, group, p) = Number(before, oldest, sequence.tokens[static_cast<size_t>(p)], sequence.is_long);
    }
  }
}

std::vector<int32_t> TestMachine::Expected(std::vector<int32_t> tokens, int64_t max_tokens) const {
  const size_t num_prompt = tokens.size();
  const size_t num_groups = options_.groups.windows.size();
  std::vector<std::vector<uint64_t>> numbers(num_groups);
  while (tokens.size() < num_prompt + static_cast<size_t>(max_tokens)) {
    uint64_t sum = 0;
    const bool is_long = options_.short_length > 0 && static_cast<int64_t>(tokens.size()) > options_.short_length;
    for (size_t group = 0; group < num_groups; ++group) {
      // All of a sequence that has become long is computed anew.
      if (is_long && static_cast<int64_t>(numbers[group].size()) == options_.short_length) numbers[group].clear();
      const auto window = static_cast<size_t>(options_.groups.windows[group]);
      for (size_t p = numbers[group].size(); p < tokens.size(); ++p) {
        const uint64_t before = p == 0 ? group : numbers[group][p - 1];
        // Of window 1 the oldest place is the one being computed.
        const uint64_t oldest = window > 0 && p >= window ? numbers[group][p - window + 1] : 0;
        numbers[group].push_back(Number(before, oldest, tokens[p], is_long));
      }
      sum += numbers[group].back();
    }
    tokens.push_back(NextToken(sum));
  }
  return {tokens.begin() + static_cast<std::ptrdiff_t>(num_prompt), tokens.end()};
}

// No tenant holds more than it may, unless all of it is of one request.
void TestMachine::CheckTenants() const {
  std::map<int32_t, std::vector<const Sequence*>> running;
  for (const auto& [id, sequence] : live_) {
    if (sequence->phase == Phase::kRunning) running[sequence->spec.tenant].push_back(sequence);
  }
  for (const auto& [tenant, sequences] : running) {
    int64_t tokens = 0;
    int64_t limit = std::numeric_limits<int64_t>::max();
    bool is_one = true;
    for (const Sequence* sequence : sequences) {
      tokens += sequence->num_tokens();
      if (sequence->spec.tenant_tokens > 0) limit = std::min(limit, sequence->spec.tenant_tokens);
      is_one &=
          sequence == sequences.front() || (sequence->gang != nullptr && sequence->gang == sequences.front()->gang);
    }
    EXPECT_TRUE(is_one || tokens <= limit) << "tenant " << tenant << " holds " << tokens << " of " << limit;
  }
}

bool TestMachine::Step() {
  const StepPlan& plan = scheduler_->Plan(now_s_);
  last_plan = &plan;
  for (Sequence* sequence : plan.hopeless) {
    ++num_hopeless;
    Finish(*sequence, false);
  }
  if (plan.rows.empty()) return false;

  std::set<const Sequence*> seen;
  StepLoad load;
  for (const PlannedRows& rows : plan.rows) {
    EXPECT_TRUE(seen.insert(rows.sequence).second) << "two rows of one sequence";
    const bool idle = rows.sequence->phase == Phase::kIdle;
    EXPECT_TRUE(idle ? options_.batching == Batching::kStatic : rows.sequence->phase == Phase::kRunning);
    EXPECT_EQ(rows.wants_logits, !idle && rows.num_tokens == rows.sequence->num_pending());
    (rows.sequence->decoding() ? load.decodes : load.prefill_tokens) += rows.num_tokens;
  }
  EXPECT_EQ(load.decodes, plan.load.decodes);
  EXPECT_EQ(load.prefill_tokens, plan.load.prefill_tokens);
  if (options_.chunked_prefill) {
    EXPECT_LE(plan.num_tokens(), options_.max_batch_tokens);
  }
  EXPECT_LE(scheduler_->num_running(), options_.max_num_seqs);
  CheckTenants();
  most_step_tokens = std::max(most_step_tokens, plan.num_tokens());
  most_step_seqs = std::max(most_step_seqs, static_cast<int64_t>(plan.rows.size()));

  const auto block_size = static_cast<size_t>(options_.groups.block_size);
  for (const kv::BlockCopy& copy : plan.copies) {
    std::copy_n(memory_.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(copy.from) * block_size), block_size,
                memory_.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(copy.to) * block_size));
  }
  std::vector<std::pair<Sequence*, int32_t>> chosen;
  for (const PlannedRows& rows : plan.rows) {
    RunRows(rows);
    if (!rows.wants_logits) continue;
    uint64_t sum = 0;
    for (size_t group = 0; group < options_.groups.windows.size(); ++group) {
      sum += Place(*rows.sequence, group, rows.sequence->num_tokens() - 1);
    }
    chosen.emplace_back(rows.sequence, NextToken(sum));
  }
  const double seconds =
      1e-3 + 1e-4 * static_cast<double>(plan.load.prefill_tokens) + 2e-4 * static_cast<double>(plan.load.decodes);
  now_s_ += seconds;
  scheduler_->Commit(now_s_, seconds);
  for (const auto& [sequence, token] : chosen) {
    if (sequence->num_output() < sequence->spec.max_tokens) scheduler_->Append(*sequence, token);
    if (sequence->num_output() >= sequence->spec.max_tokens) {
      Finish(*sequence, true);
    } else if (on_token) {
      on_token(*sequence);
    }
  }
  return true;
}

void TestMachine::RunAll(int64_t most_steps) {
  for (int64_t step = 0; step < most_steps; ++step) {
    if (!Step() && live_.empty()) return;
    ASSERT_FALSE(testing::Test::HasFailure()) << "step " << step;
  }
  FAIL() << live_.size() << " sequences have not ended after " << most_steps << " steps";
}

void TestMachine::Finish(Sequence& sequence, bool completed) {
  if (completed) {
    answers_[sequence.id] = {sequence.tokens.begin() + sequence.num_prompt, sequence.tokens.end()};
  }
  live_.erase(sequence.id);
  scheduler_->Finish(sequence, completed);
}

void TestMachine::Cancel(int64_t id) { Finish(*live_.at(id), false); }

Sequence& TestMachine::Fork(Sequence& parent) {
  Sequence& child = scheduler_->Fork(parent);
  live_[child.id] = &child;
  return child;
}

}  // namespace adit::sched
