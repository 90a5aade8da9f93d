#ifndef ADIT_GRAMMAR_COMPILER_H_
#define ADIT_GRAMMAR_COMPILER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "adit/grammar.h"
#include "adit/status.h"
#include "base/histogram.h"
#include "tokenizer/tokenizer.h"

namespace adit::grammar {

struct CompilerLimits {
  size_t max_text_bytes = size_t{256} << 10;
  size_t max_grammar_bytes = size_t{128} << 20;  // of one compiled grammar
  size_t max_cache_bytes = size_t{256} << 20;    // of those that nobody uses and that are kept
  double max_seconds = 10.0;                     // of one compilation, from its start
  size_t max_waiting = 64;                       // compilations that have not begun
  int max_lost = 2;                              // that went over their time and have not ended yet
};

// Bounds of the classes that times of compilations are counted in.
inline constexpr std::array<double, 13> kCompileSecondBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                                0.25,  0.5,    1.0,   2.5,  5.0,   10.0};

struct CompilerStats {
  int64_t num_compiled = 0;
  int64_t num_failed = 0;
  int64_t num_cache_hits = 0;
  Histogram<kCompileSecondBounds> compile_seconds;  // of each
  size_t cache_bytes = 0;
};

// A compilation under way.
class Compilation;

// Compiles grammars for one vocabulary on a thread of its own, and keeps those it has compiled. Any thread may call.
class Compiler {
 public:
  // `tokenizer` outlives the compiler.
  explicit Compiler(const tokenizer::Tokenizer& tokenizer, CompilerLimits limits = {});
  // Waits for what is being compiled.
  ~Compiler();
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  // Whether this build can compile grammars at all.
  static bool available();

  // Begins to compile. `on_ready`, if any, is called once, on any thread, when there is a result: perhaps before this
  // returns.
  std::shared_ptr<Compilation> Begin(GrammarSpec spec, std::function<void()> on_ready = {});

  // Compiles and waits. InvalidArgument for a text that is no grammar or allows no text, with the place; Unsupported,
  // by name, for what cannot be enforced; ResourceExhausted and DeadlineExceeded where the limits are passed.
  Result<GrammarPtr> Compile(const GrammarSpec& spec);

  CompilerStats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

class Compilation {
 public:
  // The result, if there is one.
  std::optional<Result<GrammarPtr>> result() const;
  // The same, when there is.
  Result<GrammarPtr> Wait() const;

 private:
  friend class Compiler;
  struct State;
  explicit Compilation(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace adit::grammar

#endif  // ADIT_GRAMMAR_COMPILER_H_
