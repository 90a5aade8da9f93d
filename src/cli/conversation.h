#ifndef ADIT_CLI_CONVERSATION_H_
#define ADIT_CLI_CONVERSATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adit/status.h"
#include "server/chat_prompt.h"
#include "tokenizer/tokenizer.h"

namespace adit::cli {

struct ConversationOptions {
  std::string_view chat_template;  // empty: the model has none
  std::optional<std::string> system;
  bool raw = false;
};

// One message of the user and what the model answered.
struct Turn {
  std::string text;
  std::string answer;
};

// What has been said so far, and how it becomes a prompt: messages through the model's chat template, or, without one
// or with `raw`, one text that goes on. In a raw text control tokens are read as such, since whoever asks for it writes
// the whole prompt; in the text for a model without a template they stay text.
class Conversation {
 public:
  // `tokenizer` outlives the object. InvalidArgument for a system message that has no place; runtime errors for a
  // template that cannot be read.
  static Result<Conversation> Create(const tokenizer::Tokenizer& tokenizer, const ConversationOptions& options);

  // Ids to go on from when `text` is said next. Changes nothing.
  Result<std::vector<int32_t>> Prompt(std::string_view text) const;

  // `text` has been said and answered.
  void Add(std::string_view text, std::string_view answer);

  // Forgets everything but the system message.
  void Clear() { turns_.clear(); }

  // Takes the last turn back. Precondition: there is one.
  Turn TakeLast();

  // The system message from now on, of what was said before too; nullopt: the template's own. InvalidArgument where
  // there is no place for one.
  Status SetSystem(std::optional<std::string> system);

  // All that was said, in the place of what there is.
  void SetTurns(std::vector<Turn> turns) { turns_ = std::move(turns); }

  const std::vector<Turn>& turns() const { return turns_; }
  const std::optional<std::string>& system() const { return system_; }
  bool uses_template() const { return chat_.has_value(); }

 private:
  Conversation(const tokenizer::Tokenizer& tokenizer, std::optional<server::ChatPrompt> chat,
               const ConversationOptions& options);

  const tokenizer::Tokenizer& tokenizer_;
  std::optional<server::ChatPrompt> chat_;
  std::optional<std::string> system_;
  bool raw_;
  std::vector<Turn> turns_;
};

}  // namespace adit::cli

#endif  // ADIT_CLI_CONVERSATION_H_
