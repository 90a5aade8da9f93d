#ifndef ADIT_SERVER_ANSWER_CHUNKS_H_
#define ADIT_SERVER_ANSWER_CHUNKS_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "server/api_answer.h"
#include "server/api_error.h"

namespace adit::server {

// An answer as server-sent events: what has become certain since the last call, as OpenAI's chunks. The deltas of a
// choice joined are what its whole answer would say. One thread at a time.
class AnswerChunks {
 public:
  // `answer` outlives the object.
  AnswerChunks(ApiAnswer& answer, AnswerHead head);

  // Appends events for the news of all choices.
  void Write(std::string& out);
  // The last events: the usage, if wished, and [DONE].
  void WriteEnd(std::string& out);
  // The same for an answer that failed on the way.
  static void WriteFailure(const ApiError& error, std::string& out);

  static constexpr const char* kPing = ": ping\n\n";

 private:
  // What has been told of one choice.
  struct Told {
    bool begun = false;
    bool ended = false;
    int64_t num_tokens = 0;  // of the last chunk
    int64_t num_calls = 0;
    std::string text;  // with log probabilities of completions only
    CompletionLogprobs logprobs;
  };

  nlohmann::ordered_json Chunk(nlohmann::ordered_json choices) const;
  void Send(nlohmann::ordered_json choice, std::string& out) const;
  void WriteChat(size_t index, AnswerChoice::News news, std::string& out);
  void WriteCompletion(size_t index, const AnswerChoice::News& news, std::string& out);
  nlohmann::ordered_json DeltaJson(size_t index, const OutputDelta& delta);
  void AddTokens(const AnswerChoice::News& news, nlohmann::ordered_json& choice) const;
  void AddEnd(size_t index, nlohmann::ordered_json& choice) const;

  ApiAnswer& answer_;
  const AnswerHead head_;
  std::vector<Told> told_;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_ANSWER_CHUNKS_H_
