// Encodes text files with a tokenizer and prints the speed: tokenizer_bench MODEL FILE..., where MODEL is a GGUF file,
// a tokenizer.json or a folder with one. Each file is encoded as a whole and in lines, the best of five runs counts.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "formats/gguf.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/tokenizer_json.h"

namespace adit::tokenizer {
namespace {

Result<std::unique_ptr<Tokenizer>> Open(const std::string& path) {
  if (!path.ends_with(".gguf")) return LoadTokenizerJson(path);
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<formats::GgufFile> file, formats::GgufFile::Open(path));
  return Tokenizer::FromGguf(file->metadata());
}

double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Seconds of the fastest of several runs.
double BestSeconds(const std::function<void()>& run) {
  constexpr int kRuns = 5;
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < kRuns; ++i) {
    const double start = ProcessorSeconds();
    run();
    best = std::min(best, ProcessorSeconds() - start);
  }
  return best;
}

void Measure(const Tokenizer& tokenizer, const char* name) {
  std::ifstream file(name, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  size_t num_tokens = 0;
  const double whole = BestSeconds([&] { num_tokens = tokenizer.Encode(text, false, false).size(); });
  const double lines = BestSeconds([&] {
    std::string_view rest = text;
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      const std::string_view line = rest.substr(0, end == std::string_view::npos ? end : end + 1);
      tokenizer.Encode(line, false, false);
      rest.remove_prefix(line.size());
    }
  });
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  std::printf("%s: %zu bytes, %zu tokens, whole %.2f MB/s, lines %.2f MB/s\n", name, text.size(), num_tokens,
              megabytes / whole, megabytes / lines);
}

}  // namespace
}  // namespace adit::tokenizer

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s MODEL FILE...\n", argv[0]);
    return 2;
  }
  const double start = adit::tokenizer::ProcessorSeconds();
  const auto tokenizer = adit::tokenizer::Open(argv[1]);
  if (!tokenizer.ok()) {
    std::fprintf(stderr, "%s\n", tokenizer.status().ToString().c_str());
    return 1;
  }
  const double load = adit::tokenizer::ProcessorSeconds() - start;
  std::printf("%s: %s, loaded in %.2f s\n", argv[1], (*tokenizer)->Description().c_str(), load);
  for (int i = 2; i < argc; ++i) adit::tokenizer::Measure(**tokenizer, argv[i]);
  return 0;
}
