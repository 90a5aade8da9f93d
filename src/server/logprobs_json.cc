#include "server/logprobs_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/utf8.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

// What clients take for a probability of zero: JSON has no infinity.
constexpr double kLeastLogprob = -9999.0;

double FiniteLogprob(double logprob) { return logprob >= kLeastLogprob ? logprob : kLeastLogprob; }

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) >> 6) != 2; }));
}

OrderedJson BytesOf(std::string_view bytes) {
  OrderedJson list = OrderedJson::array();
  for (const char byte : bytes) list.push_back(static_cast<unsigned char>(byte));
  return list;
}

}  // namespace

std::string TokenNames::Of(int32_t id) const {
  if (as_ids) return "token_id:" + std::to_string(id);
  return ReplaceInvalidUtf8(tokenizer.TokenBytes(id, /*with_special=*/true));
}

OrderedJson ChatLogprobs(std::span<const AnswerToken> tokens, const TokenNames& names) {
  const auto entry = [&names](int32_t id, double logprob) {
    return OrderedJson{{"token", names.Of(id)},
                       {"logprob", FiniteLogprob(logprob)},
                       {"bytes", BytesOf(names.tokenizer.TokenBytes(id, /*with_special=*/true))}};
  };
  OrderedJson content = OrderedJson::array();
  for (const AnswerToken& token : tokens) {
    OrderedJson told = entry(token.id, token.logprob);
    told["top_logprobs"] = OrderedJson::array();
    for (const TokenLogprob& other : token.top) told["top_logprobs"].push_back(entry(other.id, other.logprob));
    content.push_back(std::move(told));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

OrderedJson PromptLogprobs(std::span<const AnswerToken> tokens, const TokenNames& names) {
  OrderedJson list = OrderedJson::array();
  for (const AnswerToken& token : tokens) {
    if (std::isnan(token.logprob)) {
      list.push_back(nullptr);
      continue;
    }
    OrderedJson entry = OrderedJson::object();
    const auto add = [&](int32_t id, double logprob, OrderedJson rank) {
      entry.emplace(
          std::to_string(id),
          OrderedJson{{"logprob", FiniteLogprob(logprob)}, {"rank", std::move(rank)}, {"decoded_token", names.Of(id)}});
    };
    for (size_t i = 0; i < token.top.size(); ++i) add(token.top[i].id, token.top[i].logprob, i + 1);
    // Of a token that is not among the likeliest the rank is not known.
    add(token.id, token.logprob, nullptr);
    list.push_back(std::move(entry));
  }
  return list;
}

OrderedJson CompletionLogprobs::Of(std::span<const AnswerToken> told_tokens, std::string_view text) {
  OrderedJson tokens = OrderedJson::array();
  OrderedJson logprobs = OrderedJson::array();
  OrderedJson tops = OrderedJson::array();
  OrderedJson offsets = OrderedJson::array();
  for (const AnswerToken& token : told_tokens) {
    const size_t begin = std::clamp(token.begin, begin_, std::max(begin_, text.size()));
    character_ += CountCharacters(text.substr(begin_, begin - begin_));
    begin_ = begin;
    offsets.push_back(character_);
    tokens.push_back(names_.Of(token.id));
    // Of the first token of a prompt there is nothing to tell.
    const bool told = !std::isnan(token.logprob);
    logprobs.push_back(told ? OrderedJson(FiniteLogprob(token.logprob)) : OrderedJson());
    OrderedJson top = OrderedJson::object();
    for (const TokenLogprob& other : token.top) top.emplace(names_.Of(other.id), FiniteLogprob(other.logprob));
    if (told) top.emplace(names_.Of(token.id), FiniteLogprob(token.logprob));
    tops.push_back(told ? std::move(top) : OrderedJson());
  }
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", std::move(logprobs)},
          {"top_logprobs", std::move(tops)},
          {"text_offset", std::move(offsets)}};
}

}  // namespace adit::server
