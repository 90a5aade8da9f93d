#include "cli/batch_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/signals.h"

namespace adit::cli {
namespace {

using server::BatchPace;
using server::BatchSummary;

class FileJob : public server::BatchJob {
 public:
  FileJob(BatchInput& input, BatchOutput& output, int64_t num_new)
      : input_(input), output_(output), num_new_(num_new), bar_(Stderr(), "Answering") {}

  Result<bool> Next(server::BatchInputLine& line) override {
    ADIT_ASSIGN_OR_RETURN(const bool more, input_.Next(line_));
    line.number = line_.number;
    line.longer_than = line_.too_long ? BatchInput::kMaxLineBytes : 0;
    line.text.swap(line_.text);
    return more;
  }
  bool IsAnswered(int64_t line, const std::optional<std::string>& custom_id) const override {
    return output_.answered().Has(line, custom_id);
  }
  std::optional<server::ApiError> Prepare(server::ApiRequest&) override { return std::nullopt; }
  Status Write(const std::string& line, bool) override { return output_.Write(line); }
  BatchPace Pace() override { return PendingInterrupt() == 0 ? BatchPace::kGo : BatchPace::kStop; }
  void Progress(const BatchSummary& summary, int64_t num_tokens) override {
    bar_.Update(static_cast<double>(summary.num_done) / static_cast<double>(std::max<int64_t>(num_new_, 1)),
                fmt::format("{} of {}, {:.1f} tok/s", summary.num_done, num_new_,
                            static_cast<double>(num_tokens) / std::max(summary.seconds, 1e-9)));
  }

 private:
  BatchInput& input_;
  BatchOutput& output_;
  const int64_t num_new_;
  ProgressBar bar_;
  BatchInput::Line line_;
};

}  // namespace

Result<BatchSummary> RunBatchFiles(engine::Engine& engine, const server::ApiModel& model, BatchInput& input,
                                   BatchOutput& output, size_t max_live, int64_t num_new) {
  FileJob job(input, output, num_new);
  return server::RunBatch(engine, model, job, {.max_live = max_live});
}

}  // namespace adit::cli
