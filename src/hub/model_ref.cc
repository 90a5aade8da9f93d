#include "hub/model_ref.h"

#include <algorithm>

#include "base/error.h"

namespace adit::hub {
namespace {

constexpr size_t kMaxNameBytes = 96;
constexpr size_t kMaxRevisionBytes = 200;
constexpr size_t kMaxPathBytes = 512;
constexpr int kMaxPathDepth = 8;

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

// Slashes are part of the names of branches.
bool IsRevision(std::string_view text) {
  return !text.empty() && text.size() <= kMaxRevisionBytes && IsSafePath(text) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsNameByte(c) || c == '/'; });
}

}  // namespace

bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && name.front() != '.' && name.front() != '-' &&
         name.find("..") == std::string_view::npos && std::all_of(name.begin(), name.end(), &IsNameByte);
}

bool IsSafePath(std::string_view path) {
  if (path.empty() || path.size() > kMaxPathBytes) return false;
  int depth = 0;
  while (true) {
    const std::string_view name = path.substr(0, path.find('/'));
    if (name.empty() || name.front() == '.' || ++depth > kMaxPathDepth) return false;
    for (const char c : name) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '\\') return false;
    }
    if (name.size() == path.size()) return true;
    path.remove_prefix(name.size() + 1);
  }
}

std::string ModelRef::ToString() const {
  std::string text = repository;
  if (!quant.empty()) text += ":" + quant;
  if (!revision.empty()) text += "@" + revision;
  return text;
}

Result<ModelRef> ParseModelRef(std::string_view text) {
  const auto wrong = [text](const char* what) {
    return InvalidArgument("'{}' names no model: {}; wanted org/name[:quant][@revision]", text.substr(0, 200), what);
  };
  ModelRef ref;
  std::string_view rest = text;
  if (const size_t at = rest.find('@'); at != std::string_view::npos) {
    ref.revision = rest.substr(at + 1);
    rest = rest.substr(0, at);
    if (!IsRevision(ref.revision)) return wrong("the revision is no branch, tag or commit");
  }
  if (const size_t colon = rest.find(':'); colon != std::string_view::npos) {
    ref.quant = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    if (!IsPlainName(ref.quant)) return wrong("what stands behind ':' is no name of a quantisation");
  }
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return wrong("there is no '/'");
  if (!IsPlainName(rest.substr(0, slash)) || !IsPlainName(rest.substr(slash + 1))) {
    return wrong("an organisation and a name are letters, digits and ._-");
  }
  ref.repository = rest;
  return ref;
}

}  // namespace adit::hub
