#include "server/guard_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/error.h"
#include "server/ascii.h"

namespace adit::server {
namespace {

constexpr size_t kMaxCategories = 32;
constexpr size_t kMaxCategoryBytes = 64;

bool IsWordChar(char c) { return (LowerCase(c) >= 'a' && LowerCase(c) <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

// Where a word stands in a text, whole; npos: nowhere.
size_t FindWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !IsWordChar(text[at - 1])) && (end == text.size() || !IsWordChar(text[end]))) return at;
  }
  return std::string_view::npos;
}

// Names behind the verdict, parted by commas or line ends; what introduces them ("Categories:") is none of them.
std::vector<std::string> CategoriesOf(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty() && names.size() < kMaxCategories) {
    std::string_view name = text.substr(0, text.find_first_of(",\n"));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
    if (const size_t colon = name.rfind(':'); colon != std::string_view::npos) name.remove_prefix(colon + 1);
    while (!name.empty() && !IsWordChar(name.front())) name.remove_prefix(1);
    while (!name.empty() && !IsWordChar(name.back())) name.remove_suffix(1);
    if (name.empty() || name.size() > kMaxCategoryBytes || LowerCase(name) == "none") continue;
    names.emplace_back(name);
  }
  return names;
}

// Guard models know two who talk in turn.
std::vector<ChatMessage> Turns(const std::vector<ChatMessage>& messages) {
  std::vector<ChatMessage> turns;
  for (const ChatMessage& message : messages) {
    const bool is_answer = message.role == "assistant";
    const std::string role = is_answer ? "assistant" : "user";
    if (message.content.empty()) continue;
    if (!turns.empty() && turns.back().role == role) {
      turns.back().content += "\n" + message.content;
    } else {
      turns.push_back({.role = role, .content = message.content});
    }
  }
  return turns;
}

}  // namespace

Judgement ReadJudgement(std::string_view answer, double probability, const GuardModelOptions& options) {
  const std::string text = LowerCase(answer);
  const std::string unsafe_word = LowerCase(options.unsafe);
  const size_t unsafe = FindWord(text, unsafe_word);
  const size_t safe = FindWord(text, LowerCase(options.safe));
  if (unsafe == std::string::npos && safe == std::string::npos) {
    return {.unsafe = true, .categories = {"unclear"}, .score = 0.5};
  }
  if (safe < unsafe) return {.score = std::clamp(1.0 - probability, 0.0, 1.0)};
  return {.unsafe = true,
          .categories = CategoriesOf(answer.substr(unsafe + unsafe_word.size())),
          .score = std::clamp(probability, 0.0, 1.0)};
}

std::optional<Result<Judgement>> Judging::Poll() {
  while (!result_) {
    std::optional<engine::Event> event = handle_.TryNext();
    if (!event) return std::nullopt;
    switch (event->kind) {
      case engine::Event::Kind::kToken:
        if (!std::exchange(begun_, true) && std::isfinite(event->logprob)) probability_ = std::exp(event->logprob);
        if (!event->ends_answer) answer_ += text_.Append(event->token);
        break;
      case engine::Event::Kind::kError:
        result_ = Result<Judgement>(event->status);
        break;
      case engine::Event::Kind::kDone:
        answer_ += text_.Finish();
        result_ = Result<Judgement>(ReadJudgement(answer_, probability_, options_));
        break;
      case engine::Event::Kind::kPromptToken:
      case engine::Event::Kind::kFinished:
        break;
    }
  }
  return result_;
}

GuardModel::GuardModel(std::unique_ptr<engine::LoadedModel> model, std::unique_ptr<engine::Engine> engine,
                       ChatPrompt prompt, GuardModelOptions options)
    : options_(std::move(options)),
      rule_{.name = "guard-model", .kind = "model", .action = guard::Action::kBlock},
      model_(std::move(model)),
      engine_(std::move(engine)),
      prompt_(std::move(prompt)) {}

Result<std::unique_ptr<GuardModel>> GuardModel::Create(std::unique_ptr<engine::LoadedModel> model,
                                                       std::unique_ptr<engine::Engine> engine,
                                                       GuardModelOptions options) {
  const std::string_view source = options.chat_template.empty() ? model->chat_template() : options.chat_template;
  if (source.empty()) {
    return FailedPrecondition("--guard-model: the model has no template for its prompts; --guard-template gives one");
  }
  Result<ChatPrompt> prompt = ChatPrompt::Create(source, model->tokenizer());
  if (!prompt.ok()) return Status(prompt.status().code(), "--guard-model: " + prompt.status().message());
  return std::unique_ptr<GuardModel>(
      new GuardModel(std::move(model), std::move(engine), std::move(prompt).value(), std::move(options)));
}

Result<std::unique_ptr<Judging>> GuardModel::Begin(const std::vector<ChatMessage>& messages,
                                                   std::function<void()> on_ready) const {
  const std::vector<ChatMessage> turns = Turns(messages);
  if (turns.empty()) return InvalidArgument("there is no text to judge");
  std::span<const ChatMessage> rest = turns;
  // Templates want one who asks to be first.
  if (rest.size() > 1 && rest.front().role == "assistant") rest = rest.subspan(1);
  engine::GenerationRequest request;
  while (true) {
    ADIT_ASSIGN_OR_RETURN(request.prompt, prompt_.Encode(rest));
    const auto length = static_cast<int64_t>(request.prompt.size());
    if (length + options_.max_tokens <= engine_->max_context()) break;
    if (rest.size() <= 2) {
      return InvalidArgument("the text is too long for the guard model: {} tokens, {} fit", length,
                             engine_->max_context() - options_.max_tokens);
    }
    rest = rest.subspan(2);
  }
  request.max_tokens = options_.max_tokens;
  request.sampling.temperature = 0;
  request.sampling.top_logprobs = 0;
  ADIT_ASSIGN_OR_RETURN(engine::RequestHandle handle, engine_->Submit(std::move(request), std::move(on_ready)));
  return std::make_unique<Judging>(std::move(handle), model_->tokenizer(), options_);
}

}  // namespace adit::server
