#include "eval/needle.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/rng.h"

namespace adit::eval {
namespace {

// So far back a sentence's end is looked for.
constexpr int64_t kNear = 64;

bool EndsSentence(const tokenizer::Tokenizer& tokenizer, int32_t token) {
  const std::string bytes = tokenizer.TokenBytes(token, /*with_special=*/false);
  return bytes.ends_with('.') || bytes.ends_with('\n');
}

}  // namespace

Needle MakeNeedle(uint64_t seed, uint64_t index) {
  constexpr std::array<const char*, 8> kColours = {"green", "copper",  "silver", "violet",
                                                   "amber", "scarlet", "ivory",  "cobalt"};
  constexpr std::array<const char*, 8> kPlaces = {"archive", "lighthouse", "workshop", "greenhouse",
                                                  "library", "harbour",    "mill",     "observatory"};
  const uint64_t bits = RandomBits(seed, index);
  const std::string what = std::string("The access code of the ") + kColours[index % kColours.size()] + " " +
                           kPlaces[index / kColours.size() % kPlaces.size()] + " is";
  Needle needle{.answer = std::to_string(1'000'000 + bits % 9'000'000)};
  needle.sentence = " " + what + " " + needle.answer + ". ";
  needle.question = "\n\nWhat is said above about the access code? " + what;
  return needle;
}

Result<std::vector<int32_t>> NeedlePrompt(const tokenizer::Tokenizer& tokenizer, std::span<const int32_t> haystack,
                                          const Needle& needle, int64_t length, double depth) {
  if (haystack.empty()) return InvalidArgument("the text to hide in is empty");
  const std::vector<int32_t> sentence = tokenizer.Encode(needle.sentence, false, false);
  const std::vector<int32_t> question = tokenizer.Encode(needle.question, false, false);
  std::vector<int32_t> prompt;
  if (tokenizer.adds_bos() && tokenizer.bos_id()) prompt.push_back(*tokenizer.bos_id());
  const auto taken = static_cast<int64_t>(prompt.size() + sentence.size() + question.size());
  const int64_t num_hay = length - taken;
  if (num_hay < 1) {
    return InvalidArgument("a prompt of {} tokens has no room for a text beside the {} of sentence and question",
                           length, taken);
  }
  const auto hay = [&](int64_t i) { return haystack[static_cast<size_t>(i) % haystack.size()]; };
  const auto wanted = static_cast<int64_t>(std::lround(std::clamp(depth, 0.0, 1.0) * static_cast<double>(num_hay)));
  int64_t at = wanted;
  while (at > 0 && wanted - at < kNear && !EndsSentence(tokenizer, hay(at - 1))) --at;
  if (at > 0 && !EndsSentence(tokenizer, hay(at - 1))) at = wanted;
  for (int64_t i = 0; i < at; ++i) prompt.push_back(hay(i));
  prompt.insert(prompt.end(), sentence.begin(), sentence.end());
  for (int64_t i = at; i < num_hay; ++i) prompt.push_back(hay(i));
  prompt.insert(prompt.end(), question.begin(), question.end());
  return prompt;
}

}  // namespace adit::eval
