#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/embedding_text.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/load_model.h"
#include "cli/model_file.h"
#include "cli/output.h"
#include "cli/units.h"
#include "engine/embedder.h"

namespace adit::cli {
namespace {

// The texts of a command, one after another: its arguments, or the lines of a file or of stdin.
class TextSource {
 public:
  static Result<TextSource> Open(const EmbedOptions& options) {
    TextSource source;
    source.texts_ = options.texts;
    if (!source.texts_.empty()) return source;
    if (options.file && *options.file != "-") {
      source.fd_ = ::open(options.file->c_str(), O_RDONLY | O_CLOEXEC);
      if (source.fd_ < 0) return InvalidArgument("{}: cannot open: {}", *options.file, std::strerror(errno));
      source.reader_.emplace(source.fd_, size_t{64} << 20, *options.file);
    } else {
      source.reader_.emplace(STDIN_FILENO);
    }
    return source;
  }
  TextSource(TextSource&& other) noexcept
      : texts_(std::move(other.texts_)), reader_(std::move(other.reader_)), fd_(std::exchange(other.fd_, -1)) {}
  TextSource& operator=(TextSource&&) = delete;
  ~TextSource() {
    if (fd_ >= 0) ::close(fd_);
  }

  // Nothing at the end.
  Result<std::optional<std::string>> Next() {
    if (!reader_) return next_ < texts_.size() ? std::optional(texts_[next_++]) : std::nullopt;
    std::string line;
    ADIT_ASSIGN_OR_RETURN(const LineReader::Outcome outcome, reader_->Next(line));
    return outcome == LineReader::Outcome::kEnd ? std::nullopt : std::optional(std::move(line));
  }

 private:
  TextSource() = default;

  std::vector<std::string> texts_;
  size_t next_ = 0;
  std::optional<LineReader> reader_;
  int fd_ = -1;
};

// Reads texts, embeds as many as a pass takes at once, and writes what comes of them.
class EmbedRun {
 public:
  EmbedRun(const EmbedOptions& options, const engine::LoadedModel& model, engine::Embedder& embedder,
           engine::Pooling pooling)
      : options_(options), model_(model), embedder_(embedder), pooling_(pooling) {}

  Status Run(TextSource& source) {
    while (true) {
      ADIT_ASSIGN_OR_RETURN(const std::optional<std::string> text, source.Next());
      if (!text) return Flush();
      ADIT_ASSIGN_OR_RETURN(std::vector<int32_t> tokens, TokensOf(*text));
      const auto size = static_cast<int64_t>(tokens.size());
      if (num_tokens_ + size > embedder_.max_batch_tokens()) ADIT_RETURN_IF_ERROR(Flush());
      num_tokens_ += size;
      waiting_.push_back(std::move(tokens));
    }
  }

 private:
  // Errors name the text by where it stands among all.
  Result<std::vector<int32_t>> TokensOf(const std::string& text) const {
    const int64_t index = num_done_ + static_cast<int64_t>(waiting_.size());
    std::vector<int32_t> tokens;
    if (options_.ids) {
      Result<std::vector<int32_t>> ids = ParseIds(text);
      if (!ids.ok()) return InvalidArgument("embed: text {}: {}", index, ids.status().message());
      tokens = *std::move(ids);
    } else {
      tokens = model_.tokenizer().Encode(text, /*parse_special=*/false, /*add_special=*/true);
    }
    if (tokens.empty()) return InvalidArgument("embed: text {} is empty", index);
    const auto context = static_cast<size_t>(model_.spec().context_length);
    if (tokens.size() > context) {
      if (!options_.truncate) {
        return InvalidArgument("embed: text {} has {} tokens, the model takes {}; --truncate cuts it", index,
                               tokens.size(), context);
      }
      Truncate(context, tokens);
    }
    for (const int32_t token : tokens) {
      if (token >= 0 && token < model_.spec().vocab_size) continue;
      return InvalidArgument("embed: text {}: token {} is not in 0..{}", index, token, model_.spec().vocab_size - 1);
    }
    return tokens;
  }

  // What the model expects at the end of a text stays.
  void Truncate(size_t context, std::vector<int32_t>& tokens) const {
    const int32_t last = tokens.back();
    tokens.resize(context);
    if (!options_.ids && model_.tokenizer().adds_eos()) tokens.back() = last;
  }

  Status Flush() {
    ADIT_ASSIGN_OR_RETURN(const std::vector<std::vector<float>> embeddings, embedder_.Embed(waiting_));
    std::string out;
    for (size_t i = 0; i < embeddings.size(); ++i) {
      const bool pooled = pooling_ != engine::Pooling::kNone;
      const auto state_dim = static_cast<size_t>(model_.spec().hidden_dim);
      const EmbeddingRows rows = {
          .numbers = embeddings[i], .dim = pooled ? embeddings[i].size() : state_dim, .pooled = pooled};
      out += options_.json ? EmbeddingJson(num_done_, static_cast<int64_t>(waiting_[i].size()), rows)
                           : EmbeddingLines(rows);
      ++num_done_;
    }
    waiting_.clear();
    num_tokens_ = 0;
    return Stdout().Write(out);
  }

  const EmbedOptions& options_;
  const engine::LoadedModel& model_;
  engine::Embedder& embedder_;
  const engine::Pooling pooling_;
  std::vector<std::vector<int32_t>> waiting_;
  int64_t num_tokens_ = 0;  // of those that wait
  int64_t num_done_ = 0;    // texts
};

}  // namespace

Result<int> Run(const EmbedOptions& options) {
  ADIT_ASSIGN_OR_RETURN(TextSource source, TextSource::Open(options));
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<engine::LoadedModel> model, LoadModel(options.model, options.engine));
  engine::EmbedderOptions wanted{.normalize = options.normalize};
  ADIT_ASSIGN_OR_RETURN(wanted.pooling,
                        options.pooling ? engine::ParsePooling(*options.pooling) : engine::PoolingOf(model->file()));
  // Of a classifier too embeddings are wanted, unless its own numbers are asked for.
  if (!options.pooling && wanted.pooling == engine::Pooling::kRank) wanted.pooling = engine::Pooling::kCls;
  ADIT_ASSIGN_OR_RETURN(wanted.kv_types, ChosenKvTypes(options.engine));
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<engine::Embedder> embedder,
                        engine::Embedder::Create(model->spec(), model->weights(), model->exec_context(), wanted));
  ADIT_RETURN_IF_ERROR(EmbedRun(options, *model, *embedder, wanted.pooling).Run(source));
  return kExitOk;
}

}  // namespace adit::cli
