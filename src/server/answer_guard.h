#ifndef ADIT_SERVER_ANSWER_GUARD_H_
#define ADIT_SERVER_ANSWER_GUARD_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "guard/guard_stream.h"
#include "guard/rules.h"
#include "server/output_parser.h"

namespace adit::server {

// An answer on its way past the rules for what models say. Content, thoughts, and the arguments of each call are texts
// of their own. However the answer came, the deltas joined are the same. One thread at a time.
class AnswerGuard {
 public:
  // `rules` outlive the object.
  explicit AnswerGuard(const guard::Rules& rules)
      : rules_(rules), content_(rules, guard::Side::kOutput), thoughts_(rules, guard::Side::kOutput) {}

  // Appends what has become certain of `deltas` to `out`.
  void Take(const std::vector<OutputDelta>& deltas, std::vector<OutputDelta>& out);
  // The answer has ended.
  void Finish(std::vector<OutputDelta>& out);
  // A rule has ended it; nothing more comes out.
  bool blocked() const { return blocked_; }
  std::vector<guard::Verdict> verdicts() const;

 private:
  void TakeCall(const OutputDelta& call, std::vector<OutputDelta>& out);
  void Flush(std::vector<OutputDelta>& out);

  const guard::Rules& rules_;
  guard::GuardStream content_;
  guard::GuardStream thoughts_;
  std::vector<guard::Verdict> of_calls_;
  bool blocked_ = false;
};

// Passes the texts inside a JSON text by the rules, each as a text of its own; one that is no JSON as a whole. False
// when a rule blocks it. Appends to `verdicts`.
bool GuardJsonText(const guard::Rules& rules, guard::Side side, std::string& text,
                   std::vector<guard::Verdict>& verdicts);
// The same for all texts in a value that clients sent.
bool GuardJson(const guard::Rules& rules, guard::Side side, nlohmann::ordered_json& value,
               std::vector<guard::Verdict>& verdicts);

// [{"rule", "kind", "action", "side", "count"}]
nlohmann::ordered_json VerdictsJson(const std::vector<guard::Verdict>& verdicts);

}  // namespace adit::server

#endif  // ADIT_SERVER_ANSWER_GUARD_H_
