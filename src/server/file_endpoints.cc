// OpenAI's /v1/files.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "server/list_page.h"
#include "server/multipart.h"
#include "server/service.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int64_t kUsualFiles = 10'000;
constexpr int64_t kMostFiles = 10'000;
constexpr size_t kMaxFileNameBytes = 255;

OrderedJson FileJson(const StoredFile& file) {
  return {{"id", file.id},
          {"object", "file"},
          {"bytes", file.bytes},
          {"created_at", file.created_s},
          {"expires_at", file.expires_s},
          {"filename", file.filename},
          {"purpose", file.purpose},
          {"status", "processed"},
          {"status_details", nullptr}};
}

std::unique_ptr<Reply> NoSuchFile(Call& call) {
  return ErrorReply({.status = 404,
                     .code = "not_found",
                     .message = fmt::format("there is no file '{}'", call.argument),
                     .param = "file_id"},
                    *call.record);
}

// Files are not kept here.
std::unique_ptr<Reply> NoStore(Call& call) {
  return ErrorReply({.status = 501,
                     .type = "not_supported_error",
                     .code = "not_supported",
                     .message = "files are not kept here: --file-store-mb is 0"},
                    *call.record);
}

// What a form asks for.
struct Upload {
  NewFile file;
  std::string_view content;
};

std::variant<Upload, ApiError> ReadUpload(const std::vector<FormPart>& parts, const std::string& tenant) {
  Upload upload{.file = {.tenant = tenant}, .content = {}};
  bool has_file = false;
  const auto fail = [](const char* code, const char* param, std::string message) {
    return ApiError{.code = code, .message = std::move(message), .param = param};
  };
  for (const FormPart& part : parts) {
    if (part.name == "file") {
      has_file = true;
      upload.content = part.content;
      upload.file.filename = part.filename.empty() ? "upload" : part.filename.substr(0, kMaxFileNameBytes);
    } else if (part.name == "purpose") {
      upload.file.purpose = part.content.substr(0, kMaxFileNameBytes);
    } else if (part.name == "expires_after[seconds]") {
      const std::string text(part.content.substr(0, 20));
      upload.file.ttl_s = std::strtoll(text.c_str(), nullptr, 10);
      if (*upload.file.ttl_s < kLeastTtlS || *upload.file.ttl_s > kMostTtlS) {
        return fail("invalid_value", "expires_after",
                    fmt::format("'expires_after[seconds]' is in {}..{}", kLeastTtlS, kMostTtlS));
      }
    } else if (part.name == "expires_after[anchor]") {
      if (part.content != "created_at") {
        return fail("invalid_value", "expires_after", "'expires_after[anchor]' is not created_at");
      }
    } else {
      return fail("unknown_parameter", "file", fmt::format("'{}' is not known", part.name.substr(0, 60)));
    }
  }
  if (!has_file) return fail("missing_required_parameter", "file", "'file' is missing");
  if (upload.file.purpose.empty()) return fail("missing_required_parameter", "purpose", "'purpose' is missing");
  if (upload.file.purpose != "batch") {
    return fail("invalid_value", "purpose", "'purpose' is not batch; files are kept here for nothing else");
  }
  return upload;
}

}  // namespace

std::unique_ptr<Reply> UploadFile(Call& call) {
  FileStore* const store = call.service.files();
  if (store == nullptr) return NoStore(call);
  const Result<std::vector<FormPart>> parts = ParseForm(call.request.Header("content-type"), call.request.body);
  if (!parts.ok()) {
    const bool is_other = parts.status().code() == StatusCode::kUnsupported;
    return ErrorReply({.status = is_other ? 415 : 400,
                       .code = is_other ? "unsupported_media_type" : "invalid_value",
                       .message = parts.status().message()},
                      *call.record);
  }
  const std::variant<Upload, ApiError> read = ReadUpload(*parts, call.holder.tenant);
  if (const auto* error = std::get_if<ApiError>(&read)) return ErrorReply(*error, *call.record);
  const Upload& upload = std::get<Upload>(read);
  const Result<StoredFile> file = store->Add(upload.file, upload.content);
  if (file.ok()) return JsonAnswer(FileJson(*file));
  return ErrorReply({.status = 507,
                     .type = "server_error",
                     .code = "insufficient_storage",
                     .message = file.status().message(),
                     .param = "file"},
                    *call.record);
}

std::unique_ptr<Reply> ListFiles(Call& call) {
  FileStore* const store = call.service.files();
  if (store == nullptr) return NoStore(call);
  const std::string purpose = QueryParameter(call.request.query, "purpose");
  OrderedJson items = OrderedJson::array();
  for (const StoredFile& file : store->List(call.holder.tenant)) {
    if (purpose.empty() || file.purpose == purpose) items.push_back(FileJson(file));
  }
  const auto page = ListPage(std::move(items), call.request.query, kUsualFiles, kMostFiles);
  if (const auto* error = std::get_if<ApiError>(&page)) return ErrorReply(*error, *call.record);
  return JsonAnswer(std::get<OrderedJson>(page));
}

std::unique_ptr<Reply> ShowFile(Call& call) {
  FileStore* const store = call.service.files();
  if (store == nullptr) return NoStore(call);
  const std::optional<StoredFile> file = store->Find(call.holder.tenant, call.argument);
  return file ? JsonAnswer(FileJson(*file)) : NoSuchFile(call);
}

std::unique_ptr<Reply> ShowFileContent(Call& call) {
  FileStore* const store = call.service.files();
  if (store == nullptr) return NoStore(call);
  if (!store->Find(call.holder.tenant, call.argument)) return NoSuchFile(call);
  Result<std::string> content = store->Read(call.argument);
  if (!content.ok()) return NoSuchFile(call);
  return std::make_unique<WholeReply>(HttpHead{.content_type = "application/octet-stream"}, *std::move(content));
}

std::unique_ptr<Reply> DeleteFile(Call& call) {
  FileStore* const store = call.service.files();
  if (store == nullptr) return NoStore(call);
  if (!store->Delete(call.holder.tenant, call.argument)) return NoSuchFile(call);
  return JsonAnswer({{"id", call.argument}, {"object", "file"}, {"deleted", true}});
}

}  // namespace adit::server
