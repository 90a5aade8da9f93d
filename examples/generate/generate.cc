// Asks one model several things at once: generate MODEL.gguf PROMPT...
#include <adit/engine.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s MODEL.gguf PROMPT...\n", argv[0]);
    return 2;
  }
  auto engine = adit::Engine::Open({.model_path = argv[1], .context_length = 2048, .max_num_seqs = 8});
  if (!engine.ok()) {
    std::fprintf(stderr, "%s\n", engine.status().message().c_str());
    return 1;
  }

  std::vector<adit::GenerationRequest> requests;
  for (int i = 2; i < argc; ++i) {
    adit::GenerationRequest request;
    request.prompt = (*engine)->Tokenize(argv[i]).value_or_throw();
    request.sampling.temperature = 0.0;
    request.max_tokens = 24;
    requests.push_back(std::move(request));
  }
  const auto completions = (*engine)->GenerateBatch(std::move(requests));
  for (size_t i = 0; i < completions.size(); ++i) {
    if (!completions[i].ok()) {
      std::fprintf(stderr, "%s: %s\n", argv[i + 2], completions[i].status().message().c_str());
      continue;
    }
    std::printf("%s%s\n", argv[i + 2], completions[i]->answers.front().text.c_str());
  }

  // The same again, token by token; the prompt is found in the cache.
  adit::GenerationRequest request;
  request.prompt = (*engine)->Tokenize(argv[2]).value_or_throw();
  request.sampling.temperature = 0.0;
  request.max_tokens = 24;
  auto stream = (*engine)->Start(std::move(request));
  if (!stream.ok()) return 1;
  std::vector<int32_t> tokens;
  while (const auto event = stream->Next()) {
    if (event->kind == adit::Event::Kind::kToken && !event->ends_answer) tokens.push_back(event->token);
    if (event->kind == adit::Event::Kind::kFinished) {
      std::printf("again, with %lld of %lld prompt tokens cached:%s\n",
                  static_cast<long long>(event->stats->cached_tokens),
                  static_cast<long long>(event->stats->prompt_tokens), (*engine)->Detokenize(tokens).c_str());
    }
  }
  return 0;
}
