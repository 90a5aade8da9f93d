#include "server/embedding_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "embeddings are sent as they lie in memory");

std::string Text(const OrderedJson& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, OrderedJson::error_handler_t::replace);
}

OrderedJson EmbeddingUsage(const EmbeddingWish& wish) {
  return {{"prompt_tokens", wish.num_tokens}, {"total_tokens", wish.num_tokens}};
}

// The shortest decimals that give the same floats again.
void AppendNumbers(std::span<const float> numbers, std::string& out) {
  out += '[';
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) out += ',';
    fmt::format_to(std::back_inserter(out), "{}", numbers[i]);
  }
  out += ']';
}

void AppendEmbedding(const EmbeddingsRequest& request, const std::vector<float>& embedding, int64_t dim,
                     std::string& out) {
  if (request.base64) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(embedding.data());
    out += '"' + Base64({bytes, embedding.size() * sizeof(float)}) + '"';
    return;
  }
  if (request.wish.request.form.pooling != engine::Pooling::kNone) return AppendNumbers(embedding, out);
  const auto row = static_cast<size_t>(dim);
  out += '[';
  for (size_t at = 0; at < embedding.size(); at += row) {
    if (at > 0) out += ',';
    AppendNumbers(std::span(embedding).subspan(at, row), out);
  }
  out += ']';
}

// Of embeddings of length 1: the cosine of the angle between them.
double Similarity(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// What a classifier of one label says of a pair, as a number between 0 and 1.
double Probability(const std::vector<float>& output) { return 1.0 / (1.0 + std::exp(-static_cast<double>(output[0]))); }

// Of each label: one alone is true or not, of several just one is.
std::vector<double> Probabilities(const std::vector<float>& output) {
  if (output.size() == 1) return {Probability(output)};
  const float most = *std::max_element(output.begin(), output.end());
  std::vector<double> shares;
  double sum = 0.0;
  for (const float number : output) sum += shares.emplace_back(std::exp(static_cast<double>(number - most)));
  for (double& share : shares) share /= sum;
  return shares;
}

OrderedJson ListOf(const EmbeddingWish& wish, const char* kind, const std::string& id, int64_t created_s,
                   OrderedJson data) {
  return {{"id", fmt::format("{}-{}", kind, id)},
          {"object", "list"},
          {"created", created_s},
          {"model", wish.model},
          {"data", std::move(data)},
          {"usage", EmbeddingUsage(wish)}};
}

}  // namespace

std::string Base64(std::span<const unsigned char> bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < count ? bytes[i + k] : 0U);
    for (size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string EmbeddingsBody(const EmbeddingsRequest& request, const engine::Embeddings& embeddings, int64_t dim) {
  // By hand: there may be a million numbers.
  std::string out = R"({"object":"list","data":[)";
  for (size_t i = 0; i < embeddings.size(); ++i) {
    out += fmt::format(R"({}{{"object":"embedding","index":{},"embedding":)", i > 0 ? "," : "", i);
    AppendEmbedding(request, embeddings[i], dim, out);
    out += '}';
  }
  out += R"(],"model":)" + Text(OrderedJson(request.wish.model)) + R"(,"usage":)" + Text(EmbeddingUsage(request.wish)) +
         '}';
  return out;
}

std::string RerankBody(const RerankRequest& request, const engine::Embeddings& embeddings, const std::string& id) {
  std::vector<double> scores;
  if (request.pairs) {
    for (const std::vector<float>& output : embeddings) scores.push_back(Probability(output));
  } else {
    for (size_t i = 1; i < embeddings.size(); ++i) scores.push_back(Similarity(embeddings[0], embeddings[i]));
  }
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&scores](size_t a, size_t b) { return scores[a] > scores[b]; });
  order.resize(request.top_n);
  OrderedJson results = OrderedJson::array();
  for (const size_t index : order) {
    OrderedJson result = {{"index", index}, {"relevance_score", scores[index]}};
    if (!request.documents.empty()) result["document"] = {{"text", request.documents[index]}};
    results.push_back(std::move(result));
  }
  return Text({{"id", "rerank-" + id},
               {"model", request.wish.model},
               {"results", std::move(results)},
               {"usage", EmbeddingUsage(request.wish)}});
}

std::string ScoreBody(const ScoreRequest& request, const engine::Embeddings& embeddings, const std::string& id,
                      int64_t created_s) {
  OrderedJson data = OrderedJson::array();
  const size_t num_left = request.pairs ? 0 : request.num_left;
  for (size_t i = num_left; i < embeddings.size(); ++i) {
    const size_t number = i - num_left;
    const size_t left = num_left == 1 ? 0 : number;
    const double score = request.pairs ? Probability(embeddings[i]) : Similarity(embeddings[left], embeddings[i]);
    data.push_back({{"index", number}, {"object", "score"}, {"score", score}});
  }
  return Text(ListOf(request.wish, "score", id, created_s, std::move(data)));
}

std::string ClassifyBody(const ClassifyRequest& request, const engine::Embeddings& outputs,
                         std::span<const std::string> labels, const std::string& id, int64_t created_s) {
  OrderedJson data = OrderedJson::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto best = std::max_element(outputs[i].begin(), outputs[i].end()) - outputs[i].begin();
    data.push_back({{"index", i},
                    {"label", labels[static_cast<size_t>(best)]},
                    {"probs", Probabilities(outputs[i])},
                    {"num_classes", labels.size()}});
  }
  return Text(ListOf(request.wish, "classify", id, created_s, std::move(data)));
}

std::string PoolingBody(const ClassifyRequest& request, const engine::Embeddings& outputs, const std::string& id,
                        int64_t created_s) {
  // By hand, as embeddings are.
  std::string out = fmt::format(R"({{"id":"pool-{}","object":"list","created":{},"data":[)", id, created_s);
  for (size_t i = 0; i < outputs.size(); ++i) {
    out += fmt::format(R"({}{{"object":"pooling","index":{},"data":)", i > 0 ? "," : "", i);
    AppendNumbers(outputs[i], out);
    out += '}';
  }
  return out + R"(],"model":)" + Text(OrderedJson(request.wish.model)) + R"(,"usage":)" +
         Text(EmbeddingUsage(request.wish)) + '}';
}

}  // namespace adit::server
