#include "server/model_pool.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "server/model_pool_internal.h"

namespace adit::server {
namespace {

constexpr size_t kMaxFetches = 8;

ApiError ModelLoading(double progress) {
  return {.status = 503,
          .type = "service_unavailable_error",
          .code = "model_loading",
          .message = fmt::format("the model is being loaded: {:.0f} %", progress * 100),
          .retry_after_s = 1};
}

std::shared_ptr<Ticket> Settled(PoolTicket::Outcome outcome) {
  auto ticket = std::make_shared<Ticket>(nullptr);
  ticket->Settle(std::move(outcome));
  return ticket;
}

}  // namespace

ApiError ErrorOfPool(const Status& status) {
  ApiError error{.status = 500, .type = "server_error", .code = "model_load_failed", .message = status.message()};
  switch (status.code()) {
    case StatusCode::kResourceExhausted:
      error.status = 507;
      error.code = "insufficient_memory";
      break;
    case StatusCode::kNotFound:
      error = {.status = 404, .code = "model_not_found", .message = status.message(), .param = "model"};
      break;
    case StatusCode::kInvalidArgument:
      error = {.status = 400, .code = "invalid_value", .message = status.message(), .param = "model"};
      break;
    case StatusCode::kFailedPrecondition:
      error = {.status = 409, .type = "conflict_error", .code = "model_busy", .message = status.message()};
      break;
    case StatusCode::kCancelled:
      error = {.status = 503,
               .type = "service_unavailable_error",
               .code = "draining",
               .message = status.message(),
               .retry_after_s = 1};
      break;
    default:
      break;
  }
  return error;
}

ApiError UnknownModel(const ModelPool& pool, std::string_view name) {
  return {.status = 404,
          .code = "model_not_found",
          .message = fmt::format("the model '{}' is not served here; there is {}", name, pool.KnownNames()),
          .param = "model"};
}

void Ticket::Settle(Outcome outcome) {
  if (!outcome.status.ok() && !outcome.error) outcome.error = ErrorOfPool(outcome.status);
  {
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
  }
  if (wake_) wake_();
}

bool ModelSlot::Answers(std::string_view name) const {
  return name == entry.name || std::find(entry.aliases.begin(), entry.aliases.end(), name) != entry.aliases.end();
}

ModelPool::Impl::Impl(std::vector<ModelEntry> entries, const ModelPoolOptions& options,
                      std::unique_ptr<ModelSource> source)
    : options_(options), source_(std::move(source)) {
  for (ModelEntry& entry : entries) {
    slots_.push_back(std::make_shared<ModelSlot>());
    slots_.back()->entry = std::move(entry);
    slots_.back()->at_start = slots_.back()->entry.at_start;
  }
  worker_ = std::thread([this] { WorkMain(); });
  fetcher_ = std::thread([this] { FetchMain(); });
}

ModelPool::Impl::~Impl() {
  cancel_fetch_.store(true, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  freed_.notify_all();
  worker_.join();
  fetcher_.join();
  for (const auto& residence : residences_) ADIT_CHECK(residence->num_leases == 0);
}

ModelPool::Impl::SlotPtr ModelPool::Impl::FindSlot(const std::string& name) const {
  if (name.empty()) return slots_.empty() ? nullptr : slots_.front();
  for (const SlotPtr& slot : slots_) {
    if (slot->Answers(name)) return slot;
  }
  return nullptr;
}

ModelLease ModelPool::Impl::LeaseOf(const std::shared_ptr<Residence>& residence) {
  ++residence->num_leases;
  return {residence->model.get(), [this, residence](const ServedModel*) {
            const std::lock_guard lock(mutex_);
            --residence->num_leases;
            if (residence->retired && residence->num_leases == 0) LetGo(residence);
            freed_.notify_all();
          }};
}

void ModelPool::Impl::BeginLoad(const SlotPtr& slot) {
  slot->progress = 0.0;
  SetState(*slot, ModelState::kLoading);
  jobs_.push_back({.kind = Job::Kind::kLoad, .slot = slot, .ticket = nullptr, .source = {}});
  work_.notify_all();
}

TicketPtr ModelPool::Impl::Ask(const std::string& name, std::function<void()> wake) {
  const Lock lock(mutex_);
  const SlotPtr slot = FindSlot(name);
  if (slot == nullptr) {
    return Settled({.lease = nullptr,
                    .status = NotFound("the model '{}' is not served here; there is {}", name, KnownNames()),
                    .error = std::nullopt});
  }
  slot->used_s = SteadySeconds();
  if (slot->current != nullptr) return Settled({.lease = LeaseOf(slot->current), .status = {}, .error = {}});
  if (slot->at_start) {
    const ApiError error = ModelLoading(slot->progress);
    return Settled({.lease = nullptr, .status = FailedPrecondition("{}", error.message), .error = error});
  }
  if (slot->state == ModelState::kFailed && slot->used_s - slot->failed_s < options_.retry_failed_s) {
    return Settled({.lease = nullptr, .status = Internal("{}", slot->failure), .error = std::nullopt});
  }
  if (slot->state != ModelState::kLoading) BeginLoad(slot);
  slot->waiting.push_back(std::make_shared<Ticket>(std::move(wake)));
  return slot->waiting.back();
}

Status ModelPool::Impl::Offer(const std::string& name) {
  {
    const Lock lock(mutex_);
    if (FindSlot(name) != nullptr) return Status();
  }
  ADIT_ASSIGN_OR_RETURN(const std::string source, source_->Find(name));
  const Lock lock(mutex_);
  if (FindSlot(name) != nullptr) return Status();
  slots_.push_back(std::make_shared<ModelSlot>());
  slots_.back()->entry = {.name = name, .aliases = {}, .source = source};
  return Status();
}

TicketPtr ModelPool::Impl::Load(const std::string& name, std::function<void()> wake) {
  if (const Status status = Offer(name); !status.ok()) {
    return Settled({.lease = nullptr, .status = status, .error = std::nullopt});
  }
  const Lock lock(mutex_);
  const SlotPtr slot = FindSlot(name);
  if (slot == nullptr) {
    return Settled({.lease = nullptr, .status = NotFound("there is no model '{}'", name), .error = std::nullopt});
  }
  slot->used_s = SteadySeconds();
  if (slot->current != nullptr) return Settled({.lease = LeaseOf(slot->current), .status = {}, .error = {}});
  if (slot->state != ModelState::kLoading) BeginLoad(slot);
  slot->waiting.push_back(std::make_shared<Ticket>(std::move(wake)));
  return slot->waiting.back();
}

TicketPtr ModelPool::Impl::Unload(const std::string& name, std::function<void()> wake) {
  const Lock lock(mutex_);
  const SlotPtr slot = name.empty() ? nullptr : FindSlot(name);
  if (slot == nullptr)
    return Settled({.lease = nullptr, .status = NotFound("there is no model '{}'", name), .error = {}});
  auto ticket = std::make_shared<Ticket>(std::move(wake));
  jobs_.push_back({.kind = Job::Kind::kUnload, .slot = slot, .ticket = ticket, .source = {}});
  work_.notify_all();
  return ticket;
}

TicketPtr ModelPool::Impl::Swap(const std::string& name, const std::string& source_name, std::function<void()> wake) {
  Result<std::string> source = source_->Find(source_name);
  if (!source.ok()) return Settled({.lease = nullptr, .status = source.status(), .error = {}});
  const Lock lock(mutex_);
  const SlotPtr slot = name.empty() ? nullptr : FindSlot(name);
  if (slot == nullptr)
    return Settled({.lease = nullptr, .status = NotFound("there is no model '{}'", name), .error = {}});
  auto ticket = std::make_shared<Ticket>(std::move(wake));
  jobs_.push_back({.kind = Job::Kind::kSwap, .slot = slot, .ticket = ticket, .source = std::move(source).value()});
  work_.notify_all();
  return ticket;
}

TicketPtr ModelPool::Impl::Remove(const std::string& name, std::function<void()> wake) {
  const Lock lock(mutex_);
  const SlotPtr slot = name.empty() ? nullptr : FindSlot(name);
  if (slot == nullptr)
    return Settled({.lease = nullptr, .status = NotFound("there is no model '{}'", name), .error = {}});
  std::erase(slots_, slot);
  Emit({.model = slot->entry.name, .what = "removed"});
  auto ticket = std::make_shared<Ticket>(std::move(wake));
  jobs_.push_back({.kind = Job::Kind::kUnload, .slot = slot, .ticket = ticket, .source = {}});
  work_.notify_all();
  return ticket;
}

TicketPtr ModelPool::Impl::Fetch(const std::string& name, std::function<void()> wake) {
  const Lock lock(mutex_);
  if (fetches_.size() >= kMaxFetches) {
    return Settled({.lease = nullptr,
                    .status = FailedPrecondition("{} models are being fetched already", fetches_.size()),
                    .error = std::nullopt});
  }
  auto ticket = std::make_shared<Ticket>(std::move(wake));
  fetches_.push_back({.name = name, .ticket = ticket});
  Emit({.model = name, .what = "fetching"});
  work_.notify_all();
  return ticket;
}

Status ModelPool::Impl::Pin(const std::string& name, bool pinned) {
  const Lock lock(mutex_);
  const SlotPtr slot = name.empty() ? nullptr : FindSlot(name);
  if (slot == nullptr) return NotFound("there is no model '{}'", name);
  slot->entry.pinned = pinned;
  Emit({.model = slot->entry.name, .what = pinned ? "pinned" : "unpinned"});
  return Status();
}

Status ModelPool::Impl::LoadAtStart() {
  std::condition_variable loaded;
  std::mutex mutex;
  std::vector<TicketPtr> tickets;
  {
    const Lock lock(mutex_);
    for (const SlotPtr& slot : slots_) {
      if (!slot->at_start) continue;
      BeginLoad(slot);
      slot->waiting.push_back(std::make_shared<Ticket>([&] {
        const std::lock_guard hold(mutex);
        loaded.notify_all();
      }));
      tickets.push_back(slot->waiting.back());
    }
  }
  Status status;
  for (TicketPtr& ticket : tickets) {
    std::unique_lock lock(mutex);
    loaded.wait(lock, [&] { return ticket->outcome().has_value(); });
    if (status.ok()) status = ticket->outcome()->status;
    ticket.reset();  // with its lease
  }
  return status;
}

void ModelPool::Impl::Adopt(std::unique_ptr<ServedModel> model) {
  const Lock lock(mutex_);
  const SlotPtr slot = slots_.emplace_back(std::make_shared<ModelSlot>());
  slot->entry = {.name = model->name(), .aliases = model->aliases(), .source = {}};
  slot->current = std::make_shared<Residence>();
  slot->current->memory_bytes = model->memory_bytes();
  slot->current->model = std::move(model);
  residences_.push_back(slot->current);
  SetState(*slot, ModelState::kLoaded);
}

ModelPool::ModelPool(std::vector<ModelEntry> entries, const ModelPoolOptions& options,
                     std::unique_ptr<ModelSource> source)
    : impl_(std::make_unique<Impl>(std::move(entries), options, std::move(source))) {}
ModelPool::~ModelPool() = default;
Status ModelPool::LoadAtStart() { return impl_->LoadAtStart(); }
void ModelPool::Adopt(std::unique_ptr<ServedModel> model) { impl_->Adopt(std::move(model)); }
TicketPtr ModelPool::Ask(const std::string& name, std::function<void()> wake) {
  return impl_->Ask(name, std::move(wake));
}
TicketPtr ModelPool::Load(const std::string& name, std::function<void()> wake) {
  return impl_->Load(name, std::move(wake));
}
TicketPtr ModelPool::Unload(const std::string& name, std::function<void()> wake) {
  return impl_->Unload(name, std::move(wake));
}
TicketPtr ModelPool::Swap(const std::string& name, const std::string& source_name, std::function<void()> wake) {
  return impl_->Swap(name, source_name, std::move(wake));
}
TicketPtr ModelPool::Remove(const std::string& name, std::function<void()> wake) {
  return impl_->Remove(name, std::move(wake));
}
TicketPtr ModelPool::Fetch(const std::string& name, std::function<void()> wake) {
  return impl_->Fetch(name, std::move(wake));
}
Status ModelPool::Pin(const std::string& name, bool pinned) { return impl_->Pin(name, pinned); }
Status ModelPool::Offer(const std::string& name) { return impl_->Offer(name); }
Result<ModelPool::Plan> ModelPool::PlanLoad(const std::string& name) { return impl_->PlanLoad(name); }
std::vector<ModelNow> ModelPool::List() const { return impl_->List(); }
std::optional<ModelNow> ModelPool::Find(const std::string& name) const { return impl_->Find(name); }
bool ModelPool::is_single() const { return impl_->is_single(); }
std::string ModelPool::KnownNames() const { return impl_->LockedKnownNames(); }
std::optional<double> ModelPool::start_progress() const { return impl_->start_progress(); }
std::vector<PoolEvent> ModelPool::EventsAfter(int64_t number) const { return impl_->EventsAfter(number); }
int64_t ModelPool::last_event() const { return impl_->last_event(); }
std::shared_ptr<void> ModelPool::Subscribe(std::function<void()> wake) { return impl_->Subscribe(std::move(wake)); }

}  // namespace adit::server
