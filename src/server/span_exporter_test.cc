#include "server/span_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/error.h"

namespace adit::server {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// A collector that takes what it is sent, or does not.
class Collector {
 public:
  SpanExporter::Send AsSend() {
    return [this](const std::string& body) {
      const std::lock_guard lock(mutex_);
      ++num_calls_;
      changed_.notify_all();
      if (!takes_) return Io("nobody listens");
      const json request = json::parse(body);
      for (const json& span : request["resourceSpans"][0]["scopeSpans"][0]["spans"]) spans_.push_back(span);
      return Status();
    };
  }
  SpanExporter::Note AsNote() {
    return [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      notes_.push_back(text);
    };
  }
  void Take(bool takes) {
    const std::lock_guard lock(mutex_);
    takes_ = takes;
  }
  void AwaitCalls(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return num_calls_ >= count; });
  }
  std::vector<json> spans() {
    const std::lock_guard lock(mutex_);
    return spans_;
  }
  std::vector<std::string> notes() {
    const std::lock_guard lock(mutex_);
    return notes_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool takes_ = true;
  int num_calls_ = 0;
  std::vector<json> spans_;
  std::vector<std::string> notes_;
};

void Fill(RequestRecord& record) {
  record.id = "r1";
  record.method = "POST";
  record.route = "/v1/chat/completions";
  record.start_s = 100.0;
  record.model = "smol";
  record.status = 200;
  record.prompt_tokens = 30;
  record.cached_tokens = 16;
  record.num_chunks = 2;
  record.submitted_s = 0.25;
  record.queue_s = 0.5;
  record.first_token_s = 1.0;
  record.finish_reason = "stop";
  record.generates = true;
  record.output_tokens = 7;
}

std::map<std::string, json> AttributesOf(const json& span) {
  std::map<std::string, json> attributes;
  for (const json& attribute : span["attributes"]) attributes[attribute["key"]] = attribute["value"];
  return attributes;
}

double Seconds(const json& span) {
  return static_cast<double>(std::stoll(span["endTimeUnixNano"].get<std::string>()) -
                             std::stoll(span["startTimeUnixNano"].get<std::string>())) *
         1e-9;
}

TEST(SpanExporter, TellsOfARequestAndWhereItsTimeWent) {
  Collector collector;
  {
    SpanExporter exporter({}, collector.AsSend(), collector.AsNote());
    RequestRecord record;
    Fill(record);
    record.trace = {.trace_id = std::string(32, 'a'), .parent_id = std::string(16, 'b')};
    exporter.NoteRequest(record, /*client_gone=*/false, 103.0);
  }
  const std::vector<json> spans = collector.spans();
  ASSERT_EQ(spans.size(), 5u);
  const json& whole = spans.front();
  EXPECT_EQ(whole["name"], "chat smol");
  EXPECT_EQ(whole["kind"], 2);
  EXPECT_EQ(whole["parentSpanId"], std::string(16, 'b'));
  EXPECT_FALSE(whole.contains("status"));
  EXPECT_NEAR(Seconds(whole), 3.0, 1e-6);
  const auto attributes = AttributesOf(whole);
  EXPECT_EQ(attributes.at("gen_ai.operation.name")["stringValue"], "chat");
  EXPECT_EQ(attributes.at("gen_ai.request.model")["stringValue"], "smol");
  EXPECT_EQ(attributes.at("gen_ai.usage.input_tokens")["intValue"], "30");
  EXPECT_EQ(attributes.at("gen_ai.usage.output_tokens")["intValue"], "7");
  EXPECT_EQ(attributes.at("gen_ai.response.finish_reasons")["arrayValue"]["values"][0]["stringValue"], "stop");
  EXPECT_EQ(attributes.at("http.response.status_code")["intValue"], "200");

  std::set<std::string> ids;
  std::vector<std::string> names;
  std::vector<double> seconds;
  json end = whole["startTimeUnixNano"];
  for (const json& span : spans) {
    EXPECT_EQ(span["traceId"], std::string(32, 'a'));
    EXPECT_EQ(span["spanId"].get<std::string>().size(), 16u);
    ids.insert(span["spanId"]);
    if (&span == &spans.front()) continue;
    EXPECT_EQ(span["parentSpanId"], whole["spanId"]);
    EXPECT_EQ(span["startTimeUnixNano"], end) << "one begins where the other ends";
    end = span["endTimeUnixNano"];
    names.push_back(span["name"]);
    seconds.push_back(Seconds(span));
  }
  EXPECT_EQ(end, whole["endTimeUnixNano"]);
  EXPECT_EQ(ids.size(), 5u);
  EXPECT_THAT(names, ElementsAre("tokenize", "queue", "prefill", "decode"));
  EXPECT_THAT(seconds, ElementsAre(testing::DoubleNear(0.25, 1e-6), testing::DoubleNear(0.5, 1e-6),
                                   testing::DoubleNear(0.25, 1e-6), testing::DoubleNear(2.0, 1e-6)));
  EXPECT_EQ(AttributesOf(spans[3]).at("adit.prefill.tokens")["intValue"], "14");
  EXPECT_EQ(AttributesOf(spans[3]).at("adit.prefill.chunks")["intValue"], "2");
}

TEST(SpanExporter, ARequestWithoutATraceBeginsOneAndErrorsAreMarked) {
  Collector collector;
  {
    SpanExporter exporter({}, collector.AsSend(), collector.AsNote());
    for (const int status : {500, 400}) {
      RequestRecord record;
      Fill(record);
      record.route = "/tokenize";
      record.generates = false;
      record.status = status;
      record.error_code = "internal_error";
      exporter.NoteRequest(record, /*client_gone=*/false, 103.0);
    }
  }
  const std::vector<json> spans = collector.spans();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0]["name"], "POST /tokenize");
  EXPECT_FALSE(spans[0].contains("parentSpanId"));
  EXPECT_EQ(spans[0]["traceId"].get<std::string>().size(), 32u);
  EXPECT_NE(spans[0]["traceId"], spans[1]["traceId"]);
  EXPECT_EQ(spans[0]["status"]["code"], 2);
  EXPECT_FALSE(spans[1].contains("status")) << "that is the client's";
  EXPECT_EQ(AttributesOf(spans[1]).at("error.type")["stringValue"], "internal_error");
}

TEST(SpanExporter, WhatNobodyWantsToldIsNot) {
  Collector collector;
  {
    SpanExporter exporter({}, collector.AsSend(), collector.AsNote());
    RequestRecord unsampled;
    Fill(unsampled);
    unsampled.trace.sampled = false;
    exporter.NoteRequest(unsampled, false, 103.0);
    RequestRecord probe;
    Fill(probe);
    probe.method = "GET";
    exporter.NoteRequest(probe, false, 103.0);
    RequestRecord nowhere;
    Fill(nowhere);
    nowhere.route.clear();
    exporter.NoteRequest(nowhere, false, 103.0);
  }
  EXPECT_TRUE(collector.spans().empty());
}

TEST(SpanExporter, SpansWaitForACollectorAndTheOldestGoFirst) {
  Collector collector;
  collector.Take(false);
  {
    SpanExporter exporter({.interval_s = 0.01, .longest_s = 0.02, .max_queued = 3}, collector.AsSend(),
                          collector.AsNote());
    const auto note = [&](int i) {
      RequestRecord record;
      Fill(record);
      record.id = std::to_string(i);
      record.generates = false;
      exporter.NoteRequest(record, false, 103.0);
    };
    for (int i = 0; i < 5; ++i) note(i);
    collector.AwaitCalls(3);
    EXPECT_EQ(exporter.num_dropped(), 2);
    collector.Take(true);
    while (collector.spans().size() < 3) collector.AwaitCalls(1);
    note(5);
  }
  std::vector<std::string> ids;
  for (const json& span : collector.spans()) ids.push_back(AttributesOf(span).at("adit.request.id")["stringValue"]);
  EXPECT_THAT(ids, ElementsAre("2", "3", "4", "5"));
  const std::vector<std::string> notes = collector.notes();
  ASSERT_EQ(notes.size(), 2u) << "once when it fails, once when it works again";
  EXPECT_THAT(notes[0], HasSubstr("nobody listens"));
}

}  // namespace
}  // namespace adit::server
