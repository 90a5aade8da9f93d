#include "server/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace adit::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A reply that counts up for ever, or to `last`, each time it is woken by a thread of its own.
class Counting : public Reply {
 public:
  Counting(int last, std::function<void()> wake, std::atomic<int>& ended, std::atomic<int>& gone)
      : last_(last), ended_(ended), gone_(gone), waker_([this, wake](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            ++ticks_;
            wake();
          }
        }) {}
  void Advance(ReplyOutput& out, bool) override {
    if (told_ == 0) out.SetHead({.content_type = "text/plain"});
    for (const int ticks = ticks_; told_ < std::min(ticks, last_); ++told_) out.body += std::to_string(told_) + "\n";
    out.done = told_ >= last_;
    if (out.body.empty() && !out.done) out.has_head = false;
  }
  void Ended(bool client_gone) override {
    ++ended_;
    gone_ += client_gone ? 1 : 0;
  }

 private:
  const int last_;
  int told_ = 0;
  std::atomic<int>& ended_;
  std::atomic<int>& gone_;
  std::atomic<int> ticks_ = 0;
  std::jthread waker_;
};

// A reply that always has more.
class Flood : public Reply {
 public:
  Flood(std::function<void()> wake, std::atomic<int>& gone) : wake_(std::move(wake)), gone_(gone) {}
  void Advance(ReplyOutput& out, bool) override {
    if (!std::exchange(headed_, true)) out.SetHead({.content_type = "text/plain"});
    out.body.assign(1 << 20, 'x');
    wake_();
  }
  void Ended(bool client_gone) override { gone_ += client_gone ? 1 : 0; }

 private:
  const std::function<void()> wake_;
  std::atomic<int>& gone_;
  bool headed_ = false;
};

// Answers with what it was asked.
class Echo : public HttpHandler {
 public:
  std::unique_ptr<Reply> Admit(const HttpRequest& request, size_t& max_body_bytes) override {
    max_body_bytes = 1000;
    if (request.path != "/refused") return nullptr;
    return std::make_unique<WholeReply>(HttpHead{.status = 403}, "no");
  }
  std::unique_ptr<Reply> Handle(HttpRequest request, std::function<void()> wake) override {
    if (request.path == "/count") return std::make_unique<Counting>(20, std::move(wake), ended, gone);
    if (request.path == "/flood") return std::make_unique<Flood>(std::move(wake), gone);
    if (request.path == "/forever") return std::make_unique<Counting>(1 << 30, std::move(wake), ended, gone);
    return std::make_unique<WholeReply>(
        HttpHead{.content_type = "text/plain"},
        request.method + " " + request.path + " " + std::string(request.Header("x-a")) + " [" + request.body + "]");
  }
  std::unique_ptr<Reply> Refuse(int status, const std::string& message, const std::string&) override {
    return std::make_unique<WholeReply>(HttpHead{.status = status}, message);
  }

  std::atomic<int> ended = 0;
  std::atomic<int> gone = 0;
};

class Client {
 public:
  explicit Client(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  explicit Client(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Client() {
    if (socket_ >= 0) ::close(socket_);
  }
  void Send(const std::string& text) const { (void)!::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }
  // Up to and with `end`, or to the end of the connection.
  std::string ReadTo(const std::string& end) {
    while (got_.find(end) == std::string::npos) {
      char bytes[4096];
      const ssize_t count = ::recv(socket_, bytes, sizeof(bytes), 0);
      if (count <= 0) break;
      got_.append(bytes, static_cast<size_t>(count));
    }
    const size_t size = std::min(got_.find(end), got_.size()) + (got_.find(end) == std::string::npos ? 0 : end.size());
    std::string text = got_.substr(0, size);
    got_.erase(0, size);
    return text;
  }
  std::string ReadAll() { return ReadTo("\1never\1"); }
  // With a reset in place of a farewell.
  void Vanish() {
    const linger hard{.l_onoff = 1, .l_linger = 0};
    (void)::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    ::close(socket_);
    socket_ = -1;
  }

 private:
  int socket_;
  std::string got_;
};

class HttpServerTest : public testing::Test {
 protected:
  void Start(HttpOptions options) {
    options.address.port = 0;
    auto server = HttpServer::Start(options, handler_);
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = std::move(server).value();
  }
  void SetUp() override { Start({}); }
  void WaitFor(const std::function<bool()>& what) const {
    for (int i = 0; i < 2000 && !what(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(what());
  }

  Echo handler_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersOneRequestAfterAnother) {
  Client client(server_->port());
  client.Send("GET /a HTTP/1.1\r\nHost: x\r\nX-A: b\r\n\r\n");
  const std::string first = client.ReadTo("[]");
  EXPECT_THAT(first, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(first, HasSubstr("GET /a b []"));
  client.Send("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nxyz");
  EXPECT_THAT(client.ReadTo("[xyz]"), HasSubstr("POST /b  [xyz]"));
  EXPECT_EQ(server_->counters().accepted, 1);
}

TEST_F(HttpServerTest, RequestsMayComeInOneGo) {
  Client client(server_->port());
  std::string many;
  for (int i = 0; i < 50; ++i) {
    many += "POST /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n" + (i % 2 ? "ab" : "cd");
  }
  client.Send(many + "GET /count HTTP/1.1\r\nHost: x\r\n\r\nGET /end HTTP/1.1\r\nHost: x\r\n\r\n");
  for (int i = 0; i < 50; ++i) {
    EXPECT_THAT(client.ReadTo("]"), HasSubstr("POST /" + std::to_string(i) + "  ["));
  }
  EXPECT_THAT(client.ReadTo("0\r\n\r\n"), HasSubstr("19\n"));
  EXPECT_THAT(client.ReadTo("]"), HasSubstr("GET /end"));
}

TEST_F(HttpServerTest, BodiesMayComeInChunks) {
  Client client(server_->port());
  client.Send("POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  client.Send("2\r\nde\r\n0\r\n\r\n");
  EXPECT_THAT(client.ReadTo("]"), HasSubstr("[abcde]"));
}

TEST_F(HttpServerTest, RepliesGoOutInChunksToThoseWhoKnowThem) {
  Client client(server_->port());
  client.Send("GET /count HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string chunked = client.ReadTo("0\r\n\r\n");
  EXPECT_THAT(chunked, HasSubstr("Transfer-Encoding: chunked"));
  Client old(server_->port());
  old.Send("GET /count HTTP/1.0\r\n\r\n");
  const std::string plain = old.ReadAll();
  EXPECT_THAT(plain, Not(HasSubstr("chunked")));
  EXPECT_THAT(plain, HasSubstr("\r\n\r\n0\n1\n2\n"));
  EXPECT_TRUE(plain.ends_with("19\n"));
}

TEST_F(HttpServerTest, AHeadHasNoBody) {
  Client client(server_->port());
  client.Send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.ReadTo("\r\n\r\n"), HasSubstr("Content-Length: "));
  EXPECT_THAT(client.ReadAll(), StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(HttpServerTest, AClientMayAskBeforeItSendsABody) {
  Client client(server_->port());
  client.Send("POST /e HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.ReadTo("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("ok");
  EXPECT_THAT(client.ReadTo("]"), HasSubstr("[ok]"));
}

TEST_F(HttpServerTest, WhatIsTooLargeIsRefused) {
  Client declared(server_->port());
  declared.Send("POST /l HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x'));
  EXPECT_THAT(declared.ReadAll(), StartsWith("HTTP/1.1 413"));
  Client chunked(server_->port());
  chunked.Send("POST /l HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7d1\r\n" + std::string(2001, 'x'));
  EXPECT_THAT(chunked.ReadAll(), StartsWith("HTTP/1.1 413"));
  Client header(server_->port());
  header.Send("GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + std::string(40000, 'x') + "\r\n\r\n");
  EXPECT_THAT(header.ReadAll(), StartsWith("HTTP/1.1 431"));
  Client refused(server_->port());
  refused.Send("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n" + std::string(500, 'x'));
  EXPECT_THAT(refused.ReadAll(), StartsWith("HTTP/1.1 403"));
}

TEST_F(HttpServerTest, WhatIsNoRequestIsRefused) {
  for (const char* text : {"nonsense\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
                           "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
                           "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
    Client client(server_->port());
    client.Send(text);
    EXPECT_THAT(client.ReadAll(), StartsWith("HTTP/1.1 400")) << text;
  }
}

TEST_F(HttpServerTest, ThoseWhoDawdleAreLetGo) {
  Start({.idle_timeout_s = 0.1, .header_timeout_s = 0.1, .body_timeout_s = 0.1});
  Client idle(server_->port());
  EXPECT_EQ(idle.ReadAll(), "");
  Client header(server_->port());
  header.Send("GET / HTTP/1.1\r\nHo");
  EXPECT_THAT(header.ReadAll(), StartsWith("HTTP/1.1 408"));
  Client body(server_->port());
  body.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab");
  EXPECT_THAT(body.ReadAll(), StartsWith("HTTP/1.1 408"));
}

TEST_F(HttpServerTest, AClientThatGoesEndsItsReply) {
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<Client>(server_->port()));
    // Some have sent more than their request.
    clients.back()->Send(std::string("GET /forever HTTP/1.1\r\nHost: x\r\n\r\n") +
                         (i % 2 ? "GET /a HTTP/1.1\r\n" : ""));
    (void)clients.back()->ReadTo("2\n");
  }
  for (size_t i = 0; i < clients.size(); ++i) {
    if (i < 4) clients[i]->Vanish();
    clients[i].reset();
  }
  WaitFor([this] { return handler_.gone == 8; });
  WaitFor([this] { return server_->counters().connections == 0; });
  EXPECT_EQ(server_->counters().active, 0);
}

TEST_F(HttpServerTest, AClientThatReadsNothingIsLetGo) {
  Start({.write_timeout_s = 0.3});
  Client client(server_->port());
  client.Send("GET /flood HTTP/1.1\r\nHost: x\r\n\r\n");
  Client busy(server_->port());
  busy.Send("GET /count HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(busy.ReadTo("0\r\n\r\n"), HasSubstr("19\n"));
  WaitFor([this] { return handler_.gone == 1; });
}

TEST_F(HttpServerTest, DrainingLetsRepliesEnd) {
  Client idle(server_->port());
  Client busy(server_->port());
  busy.Send("GET /count HTTP/1.1\r\nHost: x\r\n\r\n");
  (void)busy.ReadTo("1\n");
  EXPECT_TRUE(server_->Drain(10.0));
  EXPECT_THAT(busy.ReadAll(), HasSubstr("19\n"));
  EXPECT_EQ(idle.ReadAll(), "");
  EXPECT_EQ(server_->counters().connections, 0);
}

TEST_F(HttpServerTest, DrainingEndsWhenTheTimeIsOver) {
  Client busy(server_->port());
  busy.Send("GET /forever HTTP/1.1\r\nHost: x\r\n\r\n");
  (void)busy.ReadTo("1\n");
  EXPECT_FALSE(server_->Drain(0.1));
  server_.reset();
  EXPECT_EQ(handler_.gone, 1);
}

TEST_F(HttpServerTest, MoreClientsThanWantedAreTurnedAway) {
  Start({.max_connections = 2});
  Client a(server_->port());
  Client b(server_->port());
  WaitFor([this] { return server_->counters().connections == 2; });
  Client c(server_->port());
  EXPECT_EQ(c.ReadAll(), "");
  EXPECT_EQ(server_->counters().refused, 1);
}

TEST_F(HttpServerTest, ListensAtAPath) {
  char folder[] = "/tmp/adit_http_XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/socket";
  const HttpOptions options{.address = {.unix_path = path}};
  {
    auto server = HttpServer::Start(options, handler_);
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    Client client(path);
    client.Send("GET /u HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(client.ReadTo("]"), HasSubstr("GET /u"));
    EXPECT_EQ(HttpServer::Start(options, handler_).status().code(), StatusCode::kIo);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::remove_all(folder);
}

TEST_F(HttpServerTest, AnAddressThatCannotBeHadIsAnError) {
  EXPECT_EQ(HttpServer::Start({.address = {.port = server_->port()}}, handler_).status().code(), StatusCode::kIo);
  const HttpOptions long_path{.address = {.unix_path = std::string(200, 'x')}};
  EXPECT_EQ(HttpServer::Start(long_path, handler_).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace adit::server
