// What a hub says and what a download has left: listings of files, the choice among them, addresses, names of models,
// links to further pages, and maps of parts. Paths that are taken stay below their folder.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "hub/file_choice.h"
#include "hub/hub_client.h"
#include "hub/model_ref.h"
#include "hub/part_map.h"
#include "hub/url.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace hub = adit::hub;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<hub::HubFile> files;
  if (hub::ParseTreePage(text, files).ok()) {
    for (const hub::HubFile& file : files) {
      if (file.path.starts_with('/') || ("/" + file.path + "/").find("/../") != std::string::npos) std::abort();
    }
    (void)hub::ChooseFiles(files, "", {});
    (void)hub::ChooseFiles(files, "Q4_K_M", {});
    (void)hub::ChooseFiles(files, "", {"*.gguf"});
  }
  (void)hub::ParseCommit(text);
  (void)hub::NextPage(text);
  (void)hub::QuantOfName(text);
  if (const auto ref = hub::ParseModelRef(text); ref.ok() && !hub::ParseModelRef(ref->ToString()).ok()) std::abort();
  if (const auto url = hub::ParseUrl(text); url.ok() && !hub::ParseUrl(url->ToString()).ok()) std::abort();
  const auto from = hub::ParseUrl("https://example.org/a/b");
  (void)hub::ParseLocation(*from, text);
  if (const auto map = hub::PartMap::Parse(text, "hash", 1000); map) {
    if (!hub::PartMap::Parse(map->ToText(), "hash", 1000)) std::abort();
  }
  return 0;
}
