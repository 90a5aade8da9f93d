#include "server/sampling_fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string_view>

#include "engine/dry_breakers.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
constexpr double kMaxReal = 1e6;
constexpr size_t kMaxLogitBiases = 1024;
constexpr size_t kMaxBadWords = 1024;
constexpr size_t kMaxBadWordTokens = 256;
constexpr size_t kMaxBreakers = 64;
constexpr size_t kMaxTextBytes = 256;

// A seed that is easily typed again.
int64_t DrawSeed() { return static_cast<int64_t>(std::random_device()()); }

// Those that are numbers and need no model.
class NumberReader {
 public:
  NumberReader(FieldReader& fields, SamplingParams& out) : fields_(fields), out_(out) {}

  void Read() {
    ReadFilters();
    ReadPenalties();
    ReadDry();
  }

 private:
  void Real(const char* key, RealRange range, double& out) { out = fields_.Real(key, range).value_or(out); }
  void Whole(const char* key, int64_t low, int64_t high, int64_t& out) {
    out = fields_.Whole(key, low, high).value_or(out);
  }

  void ReadFilters() {
    Real("temperature", {0, 2}, out_.temperature);
    Real("dynatemp_range", {0, kMaxReal}, out_.dynatemp_range);
    Real("dynatemp_exponent", {0, kMaxReal}, out_.dynatemp_exponent);
    Real("top_p", {0, 1}, out_.top_p);
    Whole("top_k", -1, kMaxInt32, out_.top_k);
    Real("min_p", {0, 1}, out_.min_p);
    Real("typical_p", {0, 1, /*open_low=*/true}, out_.typical_p);
    Real("top_n_sigma", {-kMaxReal, kMaxReal}, out_.top_n_sigma);
    Real("xtc_probability", {0, 1}, out_.xtc_probability);
    Real("xtc_threshold", {0, 1}, out_.xtc_threshold);
    out_.mirostat = static_cast<int32_t>(fields_.Whole("mirostat", 0, 2).value_or(out_.mirostat));
    Real("mirostat_tau", {0, kMaxReal, /*open_low=*/true}, out_.mirostat_tau);
    Real("mirostat_eta", {0, 1, /*open_low=*/true}, out_.mirostat_eta);
  }

  void ReadPenalties() {
    const char* key = fields_.Find("repetition_penalty") != nullptr || fields_.Find("repeat_penalty") == nullptr
                          ? "repetition_penalty"
                          : "repeat_penalty";
    Real(key, {0, 10, /*open_low=*/true}, out_.repetition_penalty);
    Whole("repeat_last_n", -1, kMaxInt32, out_.repeat_last_n);
    Real("presence_penalty", {-2, 2}, out_.presence_penalty);
    Real("frequency_penalty", {-2, 2}, out_.frequency_penalty);
    Whole("no_repeat_ngram_size", 0, 64, out_.no_repeat_ngram_size);
  }

  void ReadDry() {
    Real("dry_multiplier", {0, kMaxReal}, out_.dry_multiplier);
    Real("dry_base", {1, kMaxReal, /*open_low=*/true}, out_.dry_base);
    Whole("dry_allowed_length", 0, kMaxInt32, out_.dry_allowed_length);
    Whole("dry_penalty_last_n", -1, kMaxInt32, out_.dry_penalty_last_n);
  }

  FieldReader& fields_;
  SamplingParams& out_;
};

class SamplingReader {
 public:
  SamplingReader(FieldReader& fields, const ApiModel& model, SamplingParams& out)
      : fields_(fields), model_(model), out_(out) {}

  void Read() {
    NumberReader(fields_, out_).Read();
    // Keeping more tokens than there are keeps them all.
    out_.top_k = std::min(out_.top_k, model_.vocab_size);
    ReadDryBreakers();
    ReadLogitBias();
    ReadBadWords();
    if (const Json* ids = fields_.Find("allowed_token_ids"); ids != nullptr) {
      ReadTokenIds(fields_, *ids, "allowed_token_ids", model_.vocab_size, out_.allowed_token_ids);
      if (ids->is_array() && ids->empty()) {
        fields_.Fail("invalid_value", "allowed_token_ids", "'allowed_token_ids' is empty; at least one id is wanted");
      }
    }
    ReadSamplers();
    const std::optional<int64_t> seed =
        fields_.Whole("seed", std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
    out_.seed = !seed || *seed == -1 ? DrawSeed() : *seed;
  }

 private:
  void ReadDryBreakers() {
    std::vector<std::string> texts;
    const Json* breakers = fields_.Find("dry_sequence_breakers");
    if (breakers != nullptr) {
      texts = Texts(*breakers, "dry_sequence_breakers", kMaxBreakers);
    } else {
      texts.assign(std::begin(engine::kDefaultDryBreakers), std::end(engine::kDefaultDryBreakers));
    }
    // The search through the vocabulary is for those alone who use them.
    if (out_.dry_multiplier == 0.0 || fields_.error()) return;
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    out_.dry_sequence_breakers = engine::ResolveDryBreakers(model_.tokenizer, views);
  }

  // A list of texts, none of them empty.
  std::vector<std::string> Texts(const Json& list, const char* param, size_t most) {
    std::vector<std::string> texts;
    if (!list.is_array()) {
      fields_.FailType(param, list, "a list of strings");
    } else if (list.size() > most) {
      fields_.Fail("invalid_value", param,
                   fmt::format("'{}' has {} entries; it has at most {}", param, list.size(), most));
    } else {
      for (size_t i = 0; i < list.size(); ++i) {
        const std::string element = fmt::format("{}[{}]", param, i);
        if (!list[i].is_string()) {
          fields_.FailType(element, list[i], "a string");
          break;
        }
        texts.push_back(list[i].get<std::string>());
        if (texts.back().empty() || texts.back().size() > kMaxTextBytes) {
          fields_.Fail(texts.back().empty() ? "invalid_value" : "string_above_max_length", element,
                       fmt::format("'{}' has {} bytes; it has 1 to {}", element, texts.back().size(), kMaxTextBytes));
          break;
        }
      }
    }
    return texts;
  }

  void ReadLogitBias() {
    const Json* biases = fields_.Find("logit_bias");
    if (biases == nullptr) return;
    if (!biases->is_object() && !biases->is_array()) {
      return fields_.FailType("logit_bias", *biases, "an object of token ids and biases, or a list of such pairs");
    }
    if (biases->size() > kMaxLogitBiases) {
      return fields_.Fail(
          "invalid_value", "logit_bias",
          fmt::format("'logit_bias' has {} entries; it has at most {}", biases->size(), kMaxLogitBiases));
    }
    if (biases->is_array()) return ReadBiasPairs(*biases);
    for (const auto& [key, value] : biases->items()) {
      const std::optional<int32_t> token = TokenOfKey(key);
      if (!token) {
        return fields_.Fail("invalid_value", "logit_bias",
                            fmt::format("'logit_bias' has the key {}; it is a token id, 0..{}", Json(key).dump(),
                                        model_.vocab_size - 1));
      }
      AddBias(*token, value, fmt::format("logit_bias.{}", key));
    }
  }

  void ReadBiasPairs(const Json& pairs) {
    for (size_t i = 0; i < pairs.size(); ++i) {
      const Json& pair = pairs[i];
      const std::string param = fmt::format("logit_bias[{}]", i);
      if (!pair.is_array() || pair.size() != 2) return fields_.FailType(param, pair, "a token and its bias");
      if (pair[0].is_string()) {
        // A text stands for each of its tokens.
        const auto ids = model_.tokenizer.Encode(pair[0].get<std::string>(), /*parse_special=*/false,
                                                 /*add_special=*/false);
        for (const int32_t id : ids) AddBias(id, pair[1], param);
        continue;
      }
      std::vector<int32_t> ids;
      ReadTokenIds(fields_, Json::array({pair[0]}), param, model_.vocab_size, ids);
      for (const int32_t id : ids) AddBias(id, pair[1], param);
    }
    if (out_.logit_bias.size() > kMaxLogitBiases) {
      fields_.Fail("invalid_value", "logit_bias", fmt::format("'logit_bias' has more than {} tokens", kMaxLogitBiases));
    }
  }

  void AddBias(int32_t token, const Json& value, const std::string& param) {
    const bool ban = value.is_boolean() && !value.get<bool>();
    if (!ban && !value.is_number()) return fields_.FailType(param, value, "a number, or false to ban the token");
    const double bias = ban ? -std::numeric_limits<double>::infinity() : value.get<double>();
    if (!ban && !(bias >= -100.0 && bias <= 100.0)) {
      return fields_.Fail("invalid_value", param, fmt::format("'{}' is {}; it is in [-100, 100]", param, bias));
    }
    out_.logit_bias.push_back({.token_id = token, .bias = bias});
  }

  std::optional<int32_t> TokenOfKey(const std::string& key) const {
    if (key.empty() || key.size() > 10 || key.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    const int64_t token = std::stoll(key);
    if (token >= model_.vocab_size) return std::nullopt;
    return static_cast<int32_t>(token);
  }

  void ReadBadWords() {
    const Json* words = fields_.Find("bad_words");
    if (words == nullptr) return;
    for (const std::string& word : Texts(*words, "bad_words", kMaxBadWords / 2)) {
      // A word at the start of the text, and behind another.
      for (const std::string& text : {word, " " + word}) {
        std::vector<int32_t> ids = model_.tokenizer.Encode(text, /*parse_special=*/false, /*add_special=*/false);
        if (ids.empty() || ids.size() > kMaxBadWordTokens) continue;
        if (std::find(out_.bad_words.begin(), out_.bad_words.end(), ids) == out_.bad_words.end()) {
          out_.bad_words.push_back(std::move(ids));
        }
      }
    }
  }

  void ReadSamplers() {
    const Json* names = fields_.Find("samplers");
    if (names == nullptr) return;
    out_.samplers = Texts(*names, "samplers", 16);
  }

  FieldReader& fields_;
  const ApiModel& model_;
  SamplingParams& out_;
};

}  // namespace

void ReadSampling(FieldReader& fields, const ApiModel& model, SamplingParams& out) {
  SamplingReader(fields, model, out).Read();
}

void ReadSamplingNumbers(FieldReader& fields, SamplingParams& out) { NumberReader(fields, out).Read(); }

void ReadTokenIds(FieldReader& fields, const Json& list, const std::string& param, int64_t vocab_size,
                  std::vector<int32_t>& out) {
  if (!list.is_array()) return fields.FailType(param, list, "a list of token ids");
  out.reserve(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const std::optional<int64_t> token = WholeNumber(list[i]);
    const std::string element = fmt::format("{}[{}]", param, i);
    if (!token && !list[i].is_number_integer()) return fields.FailType(element, list[i], "a token id");
    if (!token || *token < 0 || *token >= vocab_size) {
      return fields.Fail("invalid_value", element,
                         fmt::format("'{}' is {}; it is a token id, 0..{}", element, list[i].dump(), vocab_size - 1));
    }
    out.push_back(static_cast<int32_t>(*token));
  }
}

}  // namespace adit::server
