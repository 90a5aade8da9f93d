#include "server/thinking_budget.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "grammar/grammar.h"
#include "server/output_parser.h"

namespace adit::server {
namespace {

// What is the same for all answers.
struct Plan {
  int64_t num_tokens;
  bool opened;
  ReasoningMarks marks;
  std::vector<int32_t> close;  // the tokens of the mark at the end
  const tokenizer::Tokenizer& tokenizer;
};

class BudgetMatcher : public grammar::Matcher {
 public:
  BudgetMatcher(std::shared_ptr<const Plan> plan, std::unique_ptr<grammar::Matcher> text)
      : shared_plan_(std::move(plan)), plan_(*shared_plan_), text_(std::move(text)) {
    if (plan_.opened) Open();
  }

  Result<bool> FillMask(grammar::TokenMask mask) override {
    if (state_ == State::kClosing) {
      const auto token = static_cast<size_t>(plan_.close[num_closed_]);
      std::fill(mask.begin(), mask.end(), 0U);
      mask[token / 32] = uint32_t{1} << (token % 32);
      return true;
    }
    return text_ == nullptr ? Result<bool>(false) : text_->FillMask(mask);
  }

  Result<bool> Accept(int32_t token) override {
    if (state_ == State::kClosing && token != plan_.close[num_closed_]) return false;
    if (text_ != nullptr) {
      ADIT_ASSIGN_OR_RETURN(const bool allowed, text_->Accept(token));
      if (!allowed) return false;
    }
    if (state_ == State::kClosing) {
      if (++num_closed_ == plan_.close.size()) state_ = State::kAfter;
    } else if (state_ != State::kAfter) {
      tail_ += plan_.tokenizer.TokenBytes(token, /*with_special=*/true);
      Follow();
    }
    return true;
  }

  bool complete() const override { return state_ != State::kClosing && (text_ == nullptr || text_->complete()); }

 private:
  enum class State : unsigned char {
    kBefore,    // nothing but what may become the mark at the start
    kThinking,  //
    kClosing,   // the budget is used up
    kAfter,     // no thoughts, or no more
  };

  void Open() {
    state_ = plan_.num_tokens == 0 ? State::kClosing : State::kThinking;
    tail_.clear();
  }

  void Follow() {
    if (state_ == State::kBefore) {
      tail_.erase(0, std::min(tail_.find_first_not_of(" \t\r\n"), tail_.size()));
      const std::string_view open = plan_.marks.open;
      if (tail_.starts_with(open)) {
        Open();
      } else if (!open.starts_with(tail_)) {
        state_ = State::kAfter;
      }
      return;
    }
    if (tail_.find(plan_.marks.close) != std::string::npos) {
      state_ = State::kAfter;
      return;
    }
    // What may be the mark's beginning.
    const size_t kept = std::min(tail_.size(), plan_.marks.close.size());
    tail_.erase(0, tail_.size() - kept);
    if (++num_thought_ >= plan_.num_tokens) state_ = State::kClosing;
  }

  const std::shared_ptr<const Plan> shared_plan_;
  const Plan& plan_;
  const std::unique_ptr<grammar::Matcher> text_;  // null: the text is free
  State state_ = State::kBefore;
  std::string tail_;  // of the text so far, as far as it matters
  int64_t num_thought_ = 0;
  size_t num_closed_ = 0;
};

class BudgetGrammar : public Grammar {
 public:
  BudgetGrammar(std::shared_ptr<const Plan> plan, GrammarPtr text) : plan_(std::move(plan)), text_(std::move(text)) {}

  std::unique_ptr<grammar::Matcher> NewMatcher() const override {
    return std::make_unique<BudgetMatcher>(plan_, text_ == nullptr ? nullptr : text_->NewMatcher());
  }
  size_t memory_bytes() const override { return sizeof(*this) + (text_ == nullptr ? 0 : text_->memory_bytes()); }
  int64_t vocab_size() const override { return plan_->tokenizer.vocab_size(); }

  const std::shared_ptr<const Plan>& plan() const { return plan_; }
  bool alone() const { return text_ == nullptr; }

 private:
  const std::shared_ptr<const Plan> plan_;
  const GrammarPtr text_;
};

}  // namespace

Result<GrammarPtr> MakeThinkingBudget(const ThinkingBudget& budget, const tokenizer::Tokenizer& tokenizer) {
  const ReasoningMarks marks = MarksOf(budget.syntax);
  if (marks.close.empty()) return Unsupported("this model writes no thoughts");
  auto plan =
      std::make_shared<Plan>(Plan{.num_tokens = budget.tokens,
                                  .opened = budget.syntax == ReasoningSyntax::kOpenedThink,
                                  .marks = marks,
                                  .close = tokenizer.Encode(marks.close, /*parse_special=*/true, /*add_special=*/false),
                                  .tokenizer = tokenizer});
  if (plan->close.empty()) return Unsupported("the vocabulary has no tokens for '{}'", marks.close);
  return GrammarPtr(std::make_shared<BudgetGrammar>(std::move(plan), nullptr));
}

GrammarPtr WithThinkingBudget(const GrammarPtr& budget, GrammarPtr text) {
  const auto* known = dynamic_cast<const BudgetGrammar*>(budget.get());
  if (known == nullptr || text == nullptr) return text;
  return std::make_shared<BudgetGrammar>(known->plan(), std::move(text));
}

bool IsBudgetAlone(const GrammarPtr& grammar) {
  const auto* budget = dynamic_cast<const BudgetGrammar*>(grammar.get());
  return budget != nullptr && budget->alone();
}

}  // namespace adit::server
