#include "server/infill_writer.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "server/answer_chunks.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

class InfillWriter : public AnswerWriter {
 public:
  explicit InfillWriter(ApiAnswer& answer) : answer_(answer) {}

  std::string Body() override { return JsonText(Last(TakeText())); }

  void Write(std::string& out) override {
    const AnswerChoice& choice = answer_.choice(0);
    if (!choice.has_news() || choice.num_tokens() - num_tokens_ < answer_.request().stream.interval) return;
    num_tokens_ = choice.num_tokens();
    WriteData({{"index", 0},
               {"content", TakeText()},
               {"tokens", OrderedJson::array()},
               {"stop", false},
               {"tokens_predicted", num_tokens_},
               {"tokens_evaluated", answer_.usage().prompt_tokens}},
              out);
  }

  void WriteEnd(std::string& out) override { WriteData(Last(TakeText()), out); }
  void WriteFailure(const ApiError& error, std::string& out) override { AnswerChunks::WriteFailure(error, out); }

 private:
  std::string TakeText() {
    std::string text;
    for (const OutputDelta& delta : answer_.choice(0).TakeNews().deltas) text += delta.text;
    return text;
  }

  OrderedJson Last(std::string text) const {
    const AnswerChoice& choice = answer_.choice(0);
    const ApiUsage usage = answer_.usage();
    const bool is_limit = std::string_view(choice.finish_reason()) == "length";
    OrderedJson last = {{"index", 0},
                        {"content", std::move(text)},
                        {"tokens", OrderedJson::array()},
                        {"stop", true},
                        {"model", answer_.request().model},
                        {"tokens_predicted", usage.output_tokens},
                        {"tokens_evaluated", usage.prompt_tokens},
                        {"tokens_cached", usage.cached_tokens},
                        {"truncated", false},
                        {"stop_type", choice.blocked() ? "content_filter"
                                      : choice.stop()  ? "word"
                                      : is_limit       ? "limit"
                                                       : "eos"},
                        {"stopping_word", choice.stop() ? answer_.request().stops[*choice.stop()] : std::string()},
                        {"timings", TimingsJson(choice.stats())}};
    AddVerdicts(choice, last);
    return last;
  }

  static void WriteData(const OrderedJson& data, std::string& out) { out += "data: " + JsonText(data) + "\n\n"; }

  ApiAnswer& answer_;
  int64_t num_tokens_ = 0;  // that the last event told of
};

}  // namespace

std::unique_ptr<AnswerWriter> MakeInfillWriter(ApiAnswer& answer, const AnswerHead&) {
  return std::make_unique<InfillWriter>(answer);
}

}  // namespace adit::server
