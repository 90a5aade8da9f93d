#include "grammar/compiler.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "grammar/abandoned.h"
#include "grammar/backend_internal.h"
#include "grammar/grammar.h"
#include "grammar/regex_check.h"
#include "grammar/rule_check.h"
#include "grammar/schema_check.h"

namespace adit::grammar {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMaxChoices = 4096;
constexpr int kMaxTagDepth = 32;
constexpr size_t kMaxTagNodes = 4096;

Status CheckChoices(const std::string& text) {
  const OrderedJson list = OrderedJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array() || list.empty()) return InvalidArgument("choice: it is a list of strings");
  if (list.size() > kMaxChoices) {
    return InvalidArgument("choice: {} strings; there are at most {}", list.size(), kMaxChoices);
  }
  for (const OrderedJson& choice : list) {
    if (!choice.is_string() || choice.get_ref<const std::string&>().empty()) {
      return InvalidArgument("choice: every one is a string that is not empty");
    }
  }
  return Status();
}

// Checks the parts of a structural tag that are grammars themselves, and rewrites its schemas.
class TagReader {
 public:
  Result<std::string> Read(const std::string& text) {
    bool too_deep = false;
    const auto keep = [&too_deep](int depth, OrderedJson::parse_event_t, OrderedJson&) {
      too_deep = too_deep || depth > 2 * kMaxSchemaDepth;
      return depth <= 2 * kMaxSchemaDepth;
    };
    OrderedJson tag = OrderedJson::parse(text, keep, /*allow_exceptions=*/false);
    if (too_deep || !tag.is_object() || !tag.contains("format")) {
      return InvalidArgument("structural tag: it is a JSON object with 'format'");
    }
    OrderedJson whole = {{"type", "structural_tag"}, {"format", std::move(tag["format"])}};
    ADIT_RETURN_IF_ERROR(Visit(whole["format"], 0));
    return whole.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  }

 private:
  Status Visit(OrderedJson& format, int depth) {
    if (depth > kMaxTagDepth || ++num_nodes_ > kMaxTagNodes) return InvalidArgument("structural tag: it is too large");
    if (format.is_array()) {
      for (OrderedJson& one : format) ADIT_RETURN_IF_ERROR(Visit(one, depth + 1));
      return Status();
    }
    if (!format.is_object()) return Status();
    if (const auto schema = format.find("json_schema"); schema != format.end()) {
      ADIT_ASSIGN_OR_RETURN(const std::string written, CheckSchema(schema->dump()));
      *schema = OrderedJson::parse(written);
    }
    const auto text = [&format](const char* key) -> std::optional<std::string> {
      const auto value = format.find(key);
      if (value == format.end() || !value->is_string()) return std::nullopt;
      return value->get<std::string>();
    };
    if (const auto regex = text("pattern")) ADIT_RETURN_IF_ERROR(CheckRegex(*regex, RegexUse::kText));
    if (const auto rules = text("grammar")) {
      if (text("syntax").value_or("ebnf") != "ebnf") return Unsupported("structural tag: a syntax other than ebnf");
      ADIT_RETURN_IF_ERROR(CheckRules(*rules));
    }
    for (const char* key : {"min", "max"}) {
      const auto count = format.find(key);
      if (count != format.end() && count->is_number() && count->get<double>() > 4096) {
        return InvalidArgument("structural tag: {} is more than 4096", key);
      }
    }
    for (const char* key : {"content", "elements", "tags", "rules", "begin", "end"}) {
      if (const auto inner = format.find(key); inner != format.end()) ADIT_RETURN_IF_ERROR(Visit(*inner, depth + 1));
    }
    return Status();
  }

  size_t num_nodes_ = 0;
};

}  // namespace

Result<std::string> CheckSpec(const GrammarSpec& spec) {
  switch (spec.kind) {
    case GrammarKind::kJsonSchema:
      return CheckSchema(spec.text);
    case GrammarKind::kJsonObject:
      return CheckSchema(R"({"type":"object"})");
    case GrammarKind::kRegex:
      ADIT_RETURN_IF_ERROR(CheckRegex(spec.text, RegexUse::kText));
      return spec.text;
    case GrammarKind::kChoice:
      ADIT_RETURN_IF_ERROR(CheckChoices(spec.text));
      return spec.text;
    case GrammarKind::kEbnf:
      ADIT_RETURN_IF_ERROR(CheckRules(spec.text));
      return spec.text;
    case GrammarKind::kStructuralTag:
      break;
  }
  return TagReader().Read(spec.text);
}

struct Compilation::State {
  mutable std::mutex mutex;
  mutable std::condition_variable ready;
  // Guarded by mutex.
  std::optional<Result<GrammarPtr>> result;
  std::function<void()> on_ready;

  // The first result counts.
  void Finish(Result<GrammarPtr> value) {
    std::function<void()> told;
    {
      const std::lock_guard lock(mutex);
      if (result) return;
      result.emplace(std::move(value));
      told = std::exchange(on_ready, {});
    }
    ready.notify_all();
    if (told) told();
  }
};

std::optional<Result<GrammarPtr>> Compilation::result() const {
  const std::lock_guard lock(state_->mutex);
  return state_->result;
}

Result<GrammarPtr> Compilation::Wait() const {
  std::unique_lock lock(state_->mutex);
  state_->ready.wait(lock, [this] { return state_->result.has_value(); });
  return *state_->result;
}

namespace {

std::atomic<int> num_abandoned = 0;

// How long a compiler that ends waits for what is being compiled.
constexpr std::chrono::seconds kLastPatience{1};

}  // namespace

int NumAbandonedThreads() { return num_abandoned.load(std::memory_order_relaxed); }

// Threads: a worker, which compiles, and a watch, which gives up on a compilation that takes too long and lets a new
// worker begin the next; the old one ends with what it is at. What threads share outlives the compiler where one of
// them does.
class Compiler::Impl {
 public:
  Impl(const tokenizer::Tokenizer& tokenizer, CompilerLimits limits);
  ~Impl();

  class Core;
  Core& core() const { return *core_; }

 private:
  const std::shared_ptr<Core> core_;
};

class Compiler::Impl::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(const tokenizer::Tokenizer& tokenizer, CompilerLimits limits) : tokenizer_(tokenizer), limits_(limits) {}

  // Waits for what is being compiled, but not for ever.
  void Stop() {
    std::vector<std::thread> threads;
    std::deque<Job> left;
    std::shared_ptr<Compilation::State> running;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      threads.swap(threads_);
      left.swap(waiting_);
      running = running_;
    }
    changed_.notify_all();
    for (Job& job : left) job.state->Finish(Cancelled("grammar: the compiler is shutting down"));
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kLastPatience, [this] { return num_threads_ == 0; });
    // All that may touch the tokenizer end soon.
    changed_.wait(lock, [this] { return num_threads_ == num_deep_; });
    const int num_left = num_threads_;
    lock.unlock();
    num_abandoned.fetch_add(num_left, std::memory_order_relaxed);
    for (std::thread& thread : threads) {
      if (num_left > 0) {
        thread.detach();
      } else {
        thread.join();
      }
    }
    if (num_left > 0 && running != nullptr) running->Finish(Cancelled("grammar: the compiler is shutting down"));
  }

  void Begin(GrammarSpec spec, const std::shared_ptr<Compilation::State>& state) {
    Result<GrammarPtr> refused = Refusal(spec);
    if (!refused.ok()) return state->Finish(std::move(refused));
    {
      const std::lock_guard lock(mutex_);
      if (const GrammarPtr cached = Cached(spec); cached != nullptr) {
        refused = cached;
      } else if (waiting_.size() >= limits_.max_waiting || num_lost_ > limits_.max_lost) {
        refused = ResourceExhausted("grammar: {} compilations wait already", waiting_.size());
      } else if (!StartThreads()) {
        refused = ResourceExhausted("grammar: no thread to be had");
      } else {
        waiting_.push_back({std::move(spec), state});
        changed_.notify_all();
        return;
      }
    }
    state->Finish(std::move(refused));
  }

  CompilerStats stats() const {
    const std::lock_guard lock(mutex_);
    CompilerStats stats = stats_;
    stats.cache_bytes = cache_bytes_;
    return stats;
  }

 private:
  struct Job {
    GrammarSpec spec;
    std::shared_ptr<Compilation::State> state;
  };
  struct Entry {
    GrammarSpec spec;
    GrammarPtr grammar;
  };

  Result<GrammarPtr> Refusal(const GrammarSpec& spec) const {
    if (!BackendIsBuilt()) return Unsupported("this build of adit has no structured output: it lacks XGrammar");
    if (spec.text.size() > limits_.max_text_bytes) {
      return InvalidArgument("grammar: {} bytes; it has at most {}", spec.text.size(), limits_.max_text_bytes);
    }
    return GrammarPtr();
  }

  // The latest are in front. Few are in use at a time: looking at all is quick.
  GrammarPtr Cached(const GrammarSpec& spec) {
    const auto found = std::find_if(cache_.begin(), cache_.end(), [&](const Entry& e) { return e.spec == spec; });
    if (found == cache_.end()) return nullptr;
    cache_.splice(cache_.begin(), cache_, found);
    ++stats_.num_cache_hits;
    return cache_.front().grammar;
  }

  void Keep(GrammarSpec spec, const GrammarPtr& grammar) {
    cache_bytes_ += grammar->memory_bytes() + spec.text.size();
    cache_.push_front({std::move(spec), grammar});
    while (cache_bytes_ > limits_.max_cache_bytes && cache_.size() > 1) {
      cache_bytes_ -= cache_.back().grammar->memory_bytes() + cache_.back().spec.text.size();
      cache_.pop_back();
    }
  }

  bool StartThreads() {
    if (!threads_.empty()) return true;
    try {
      Start(&Core::Watch);
      Start(&Core::Work);
    } catch (const std::system_error&) {
      return threads_.size() > 1;
    }
    return true;
  }

  // With mutex_ held.
  void Start(void (Core::*run)()) {
    threads_.emplace_back([self = this->shared_from_this(), run] {
      ((*self).*run)();
      const std::lock_guard lock(self->mutex_);
      --self->num_threads_;
      self->changed_.notify_all();
    });
    ++num_threads_;
  }

  void Watch() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (running_ == nullptr) {
        changed_.wait(lock);
        continue;
      }
      const auto late = std::chrono::duration<double>(running_since_s_ + limits_.max_seconds - SteadySeconds());
      if (late.count() > 0) {
        changed_.wait_for(lock, late);
        continue;
      }
      const std::shared_ptr<Compilation::State> lost = std::exchange(running_, nullptr);
      ++num_lost_;
      ++generation_;
      ++stats_.num_failed;
      try {
        Start(&Core::Work);
      } catch (const std::system_error&) {
        num_lost_ = limits_.max_lost + 1;
      }
      lock.unlock();
      lost->Finish(DeadlineExceeded("grammar: compiling it took longer than {} s", limits_.max_seconds));
      lock.lock();
    }
  }

  void Work() {
    // Each worker has a backend of its own: one that is lost still uses its.
    std::unique_ptr<Backend> backend;
    std::unique_lock lock(mutex_);
    const int64_t generation = generation_;
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || generation != generation_ || !waiting_.empty(); });
      if (stopping_ || generation != generation_) return;
      const Job job = std::move(waiting_.front());
      waiting_.pop_front();
      GrammarPtr cached = Cached(job.spec);
      if (cached != nullptr) {
        lock.unlock();
        job.state->Finish(cached);
        lock.lock();
        continue;
      }
      running_ = job.state;
      running_since_s_ = SteadySeconds();
      changed_.notify_all();
      lock.unlock();
      if (backend == nullptr) backend = backend_factory.load(std::memory_order_relaxed)(tokenizer_);
      Result<GrammarPtr> result = CompileWith(*backend, job.spec);
      lock.lock();
      if (stopping_) {
        lock.unlock();
        job.state->Finish(std::move(result));
        return;
      }
      if (generation != generation_) {
        --num_lost_;
        return;
      }
      stats_.compile_seconds.Observe(SteadySeconds() - running_since_s_);
      running_ = nullptr;
      ++(result.ok() ? stats_.num_compiled : stats_.num_failed);
      if (result.ok()) Keep(job.spec, *result);
      lock.unlock();
      job.state->Finish(std::move(result));
      lock.lock();
    }
  }

  Result<GrammarPtr> CompileWith(Backend& backend, GrammarSpec spec) {
    ADIT_ASSIGN_OR_RETURN(spec.text, CheckSpec(spec));
    backend.Prepare(spec);
    if (!Dive(+1)) return Cancelled("grammar: the compiler is shutting down");
    Result<GrammarPtr> compiled = backend.Compile(spec);
    if (!Dive(-1)) return Cancelled("grammar: the compiler is shutting down");
    ADIT_ASSIGN_OR_RETURN(GrammarPtr grammar, std::move(compiled));
    if (grammar->memory_bytes() > limits_.max_grammar_bytes) {
      return ResourceExhausted("grammar: compiled it has {} bytes; at most {} are taken", grammar->memory_bytes(),
                               limits_.max_grammar_bytes);
    }
    ADIT_RETURN_IF_ERROR(CheckBegins(*grammar));
    return grammar;
  }

  // The thread goes where it may stay for ever, or comes back. False when the compiler ends: then the tokenizer may
  // have gone.
  bool Dive(int change) {
    const std::lock_guard lock(mutex_);
    if (change > 0 && stopping_) return false;
    num_deep_ += change;
    changed_.notify_all();
    return !stopping_;
  }

  // Some token can begin the text; one that allows nothing, or nothing but the empty text, is of no use.
  Status CheckBegins(const Grammar& grammar) const {
    std::vector<uint32_t> mask(MaskWords(grammar.vocab_size()));
    ADIT_ASSIGN_OR_RETURN(const bool masks, grammar.NewMatcher()->FillMask(mask));
    if (!masks) return Status();
    for (const int32_t id : tokenizer_.end_of_generation_ids()) {
      mask[static_cast<size_t>(id) / 32] &= ~(uint32_t{1} << (static_cast<uint32_t>(id) % 32));
    }
    const bool any = std::any_of(mask.begin(), mask.end(), [](uint32_t word) { return word != 0; });
    if (any) return Status();
    return InvalidArgument("grammar: it allows no text that this model can write");
  }

  const tokenizer::Tokenizer& tokenizer_;
  const CompilerLimits limits_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<Job> waiting_;
  std::shared_ptr<Compilation::State> running_;  // what the present worker compiles
  double running_since_s_ = 0.0;
  int64_t generation_ = 0;  // of the worker
  int num_lost_ = 0;        // workers of earlier generations that have not ended
  bool stopping_ = false;
  int num_threads_ = 0;  // that have not ended
  int num_deep_ = 0;     // of them, those that compile and touch no tokenizer
  std::vector<std::thread> threads_;
  std::list<Entry> cache_;
  size_t cache_bytes_ = 0;
  CompilerStats stats_;
};

Compiler::Impl::Impl(const tokenizer::Tokenizer& tokenizer, CompilerLimits limits)
    : core_(std::make_shared<Core>(tokenizer, limits)) {}
Compiler::Impl::~Impl() { core_->Stop(); }

Compiler::Compiler(const tokenizer::Tokenizer& tokenizer, CompilerLimits limits)
    : impl_(std::make_unique<Impl>(tokenizer, limits)) {}
Compiler::~Compiler() = default;

bool Compiler::available() { return BackendIsBuilt(); }

std::shared_ptr<Compilation> Compiler::Begin(GrammarSpec spec, std::function<void()> on_ready) {
  auto state = std::make_shared<Compilation::State>();
  state->on_ready = std::move(on_ready);
  impl_->core().Begin(std::move(spec), state);
  return std::shared_ptr<Compilation>(new Compilation(std::move(state)));
}

Result<GrammarPtr> Compiler::Compile(const GrammarSpec& spec) { return Begin(spec)->Wait(); }

CompilerStats Compiler::stats() const { return impl_->core().stats(); }

}  // namespace adit::grammar
