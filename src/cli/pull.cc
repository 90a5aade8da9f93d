// adit pull.
#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/signals.h"
#include "cli/transfer_rate.h"
#include "cli/units.h"
#include "hub/pull.h"

namespace adit::cli {
namespace {

// Sets a flag when the user presses Ctrl-C.
class CancelOnInterrupt {
 public:
  CancelOnInterrupt()
      : interrupts_({SIGINT, SIGTERM}), watcher_([this](const std::stop_token& stop) {
          while (!stop.stop_requested() && PendingInterrupt() == 0) {
            pollfd signal = {.fd = InterruptDescriptor(), .events = POLLIN, .revents = 0};
            (void)::poll(&signal, 1, /*timeout=*/100);
          }
          if (PendingInterrupt() != 0) cancel_.store(true, std::memory_order_relaxed);
        }) {}

  const std::atomic<bool>& flag() const { return cancel_; }

 private:
  std::atomic<bool> cancel_ = false;  // relaxed: nothing else is told by it
  InterruptScope interrupts_;
  std::jthread watcher_;
};

// A bar for all files, with the one that comes now.
class PullBar {
 public:
  PullBar() : bar_(Stderr(), "Pulling") {}
  void Update(const hub::PullProgress& progress) {
    rate_.Add(SteadySeconds(), progress.done_bytes);
    const double total = static_cast<double>(std::max<int64_t>(1, progress.total_bytes));
    bar_.Update(static_cast<double>(progress.done_bytes) / total,
                progress.is_verifying ? "verifying " + progress.file
                                      : TransferText(progress.done_bytes, progress.total_bytes, rate_.bytes_per_s()));
  }

 private:
  ProgressBar bar_;
  TransferRate rate_;
};

Result<hub::ModelRef> WantedModel(const PullOptions& options) {
  ADIT_ASSIGN_OR_RETURN(hub::ModelRef ref, hub::ParseModelRef(options.model));
  const auto set = [&](const char* flag, const std::optional<std::string>& value, std::string& out) -> Status {
    if (!value) return Status();
    if (!out.empty() && out != *value) return InvalidArgument("{}: '{}' says '{}' already", flag, options.model, out);
    out = *value;
    return Status();
  };
  ADIT_RETURN_IF_ERROR(set("--quant", options.quant, ref.quant));
  ADIT_RETURN_IF_ERROR(set("--revision", options.revision, ref.revision));
  return hub::ParseModelRef(ref.ToString());
}

}  // namespace

Result<int> Run(const PullOptions& options) {
  ADIT_ASSIGN_OR_RETURN(const hub::ModelRef ref, WantedModel(options));
  ADIT_ASSIGN_OR_RETURN(const hub::ModelStore store, hub::ModelStore::OfUser());
  const CancelOnInterrupt interrupt;
  ADIT_ASSIGN_OR_RETURN(const hub::HubClient hub, hub::HubOfUser(&interrupt.flag()));
  Result<hub::PullResult> pulled = [&] {
    PullBar bar;
    return hub::Pull(hub, store, ref,
                     {.include = options.include,
                      .connections = static_cast<int>(options.connections),
                      .resume = options.resume,
                      .verify = options.verify},
                     [&bar](const hub::PullProgress& progress) { bar.Update(progress); });
  }();
  if (!pulled.ok()) {
    const int signal = PendingInterrupt();
    if (signal == 0) return pulled.status();
    PrintNote(pulled.status().message());
    return kExitSignalBase + signal;
  }
  const hub::StoredModel& model = pulled->model;
  if (options.alias) {
    ADIT_RETURN_IF_ERROR(store.SetAlias(*options.alias, fmt::format("{}@{}", model.name(), model.commit)));
  }
  if (options.json) {
    const nlohmann::ordered_json told = {{"name", model.name()},
                                         {"commit", model.commit},
                                         {"path", store.PathOf(model)},
                                         {"size_bytes", model.size_bytes()},
                                         {"fetched_bytes", pulled->fetched_bytes}};
    ADIT_RETURN_IF_ERROR(Stdout().WriteText(told.dump() + "\n"));
  } else {
    ADIT_RETURN_IF_ERROR(
        Stdout().WriteText(fmt::format("{}  {}, {} fetched  {}\n", model.name(), FormatBytes(model.size_bytes()),
                                       FormatBytes(pulled->fetched_bytes), store.PathOf(model))));
  }
  return kExitOk;
}

}  // namespace adit::cli
