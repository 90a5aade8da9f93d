#ifndef ADIT_SERVER_TEST_SERVICE_H_
#define ADIT_SERVER_TEST_SERVICE_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "guard/rules_file.h"
#include "server/service.h"
#include "server/test_source.h"

// A service with a small model behind it, asked as the routes ask it, without sockets. For tests.
namespace adit::server {

// SHA-256 of "reader", "writer" and "poor".
inline constexpr const char* kKeys =
    "sha256:3d0941964aa3ebdcb00ccef58b1bb399f9f898465e9886d5aec7f31090a0fb30 id=reader scopes=read tenant=a\n"
    "sha256:b93006774cbdd4b299389a03ac3d88c3a76b460d538795bc12718011a909fba5 id=writer scopes=inference tenant=b\n"
    "sha256:4e3795d05d9d3ed261ea49f6f8a047f90cc05a4436d187bb0bd28848561a571c id=poor rpm=2 tpm=1000\n";

struct Response {
  HttpHead head;
  std::string body;
  nlohmann::json json() const { return nlohmann::json::parse(body); }
  std::string Header(const std::string& name) const {
    for (const auto& [key, value] : head.headers) {
      if (key == name) return value;
    }
    return "";
  }
};

// Something that other threads can wake.
class Bell {
 public:
  void Ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    heard_.notify_one();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    heard_.wait(lock, [this] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable heard_;
  bool rung_ = false;
};

class ServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/adit_service_XXXXXX";
    folder_ = ::mkdtemp(name);
    log_path_ = folder_ + "/log";
    log_file_ = ::open(log_path_.c_str(), O_CREAT | O_RDWR | O_APPEND, 0600);
    log_ = std::make_unique<AccessLog>(LogFormat::kText, log_file_);
  }
  void TearDown() override {
    service_.reset();
    models_.reset();
    ::close(log_file_);
    std::filesystem::remove_all(folder_);
  }

  void Start(ServiceOptions options, bool with_keys = false, bool with_model = true,
             std::vector<ModelEntry> entries = {}) {
    options.model_name = "tiny";
    options.version = "1.2.3";
    if (with_keys) std::ofstream(folder_ + "/keys") << kKeys;
    auto keys = ApiKeys::Create(with_keys ? std::vector<std::string>{"boss"} : std::vector<std::string>(),
                                with_keys ? folder_ + "/keys" : "");
    ASSERT_TRUE(keys.ok()) << keys.status().ToString();
    auto source = std::make_unique<TestSource>();
    source_ = source.get();
    models_ = std::make_unique<ModelPool>(std::move(entries), ModelPoolOptions{.is_single = false}, std::move(source));
    if (with_model) models_->Adopt(ServeTiny("tiny", {"other"}));
    service_ = std::make_unique<Service>(options, std::move(keys).value(), *log_, *models_);
  }

  Response Ask(const std::string& method, const std::string& path, const std::string& body = "",
               HttpHeaders headers = {}) {
    HttpRequest request{.method = method, .path = path, .headers = std::move(headers), .body = body, .peer = "test"};
    size_t max_body_bytes = 0;
    auto bell = std::make_shared<Bell>();
    std::unique_ptr<Reply> reply = service_->Admit(request, max_body_bytes);
    if (reply == nullptr && body.size() > max_body_bytes) reply = service_->Refuse(413, "too large", "test");
    if (reply == nullptr) reply = service_->Handle(std::move(request), [bell] { bell->Ring(); });
    Response response;
    while (true) {
      ReplyOutput out;
      reply->Advance(out, false);
      if (out.has_head) response.head = out.head;
      response.body += out.body;
      // A stream of events has no end.
      if (out.done || path == "/admin/models/events") break;
      bell->Wait();
    }
    reply->Ended(false);
    return response;
  }
  Response Complete(const std::string& fields) {
    return Ask("POST", "/v1/completions", "{\"prompt\": \"abc\", " + fields + "}");
  }
  // The engine's figures are those of the end of a step, which may come after the last event.
  void WaitUntilIdle() const {
    while (models_->Find("tiny")->lease->engine().stats().num_requests > 0) std::this_thread::yield();
  }
  std::string Log() const {
    std::ifstream file(log_path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_;
  std::string log_path_;
  int log_file_ = -1;
  std::unique_ptr<AccessLog> log_;
  std::unique_ptr<ModelPool> models_;
  TestSource* source_ = nullptr;  // of models_
  std::unique_ptr<Service> service_;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_TEST_SERVICE_H_
