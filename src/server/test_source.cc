#include "server/test_source.h"

#include <gtest/gtest.h>

#include <utility>

#include "engine/engine.h"
#include "engine/loaded_model.h"

namespace adit::server {

std::unique_ptr<ServedModel> ServeTiny(const std::string& name, std::vector<std::string> aliases) {
  auto model = engine::LoadedModel::Load(
      {.path = std::string(ADIT_SOURCE_DIR) + "/tests/goldens/models/llama.gguf", .isa = "ref", .num_threads = 1});
  EXPECT_TRUE(model.ok()) << model.status().ToString();
  engine::EngineOptions options{.kv_tokens = 1024};
  options.scheduler.max_context = 200;
  options.scheduler.max_queued_requests = 4;
  options.scheduler.max_num_seqs = 2;
  options.scheduler.tenants = {{.name = "default"}, {.name = "a"}, {.name = "b"}};
  auto engine = engine::Engine::Create(**model, options);
  EXPECT_TRUE(engine.ok()) << engine.status().ToString();
  return ServedModel::Create(std::move(model).value(), std::move(engine).value(),
                             {.name = name,
                              .aliases = std::move(aliases),
                              .chat_template = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}",
                              .tenants = {"default", "a", "b"}});
}

}  // namespace adit::server
