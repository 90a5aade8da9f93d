#include "cli/sse_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace adit::cli {
namespace {

using testing::ElementsAre;

std::vector<std::string> EventsOf(std::string_view stream, size_t piece) {
  SseReader reader;
  std::vector<std::string> events;
  for (size_t at = 0; at < stream.size(); at += piece) {
    EXPECT_TRUE(reader.Append(stream.substr(at, piece), [&](std::string_view data) { events.emplace_back(data); }));
  }
  return events;
}

TEST(SseReader, GivesTheSameEventsHoweverTheStreamIsCut) {
  constexpr std::string_view kStream =
      ": ping\n\ndata: one\n\nevent: x\nid: 7\ndata:two\ndata\ndata:  three\n\n\r\ndata: four\r\n\r\ndata: "
      "five\r\rdata: lost\n";
  for (size_t piece = 1; piece <= kStream.size(); ++piece) {
    EXPECT_THAT(EventsOf(kStream, piece), ElementsAre("one", "two\n\n three", "four", "five")) << piece;
  }
}

TEST(SseReader, EmptyDataIsAnEventAndNoDataIsNone) {
  EXPECT_THAT(EventsOf("data:\n\nevent: only\n\n\n\n", 100), ElementsAre(""));
}

TEST(SseReader, RefusesAnEventThatIsTooLargeForGood) {
  SseReader reader;
  int num_events = 0;
  const auto count = [&](std::string_view) { ++num_events; };
  EXPECT_FALSE(reader.Append("data: " + std::string(SseReader::kMaxEventBytes, 'x'), count));
  EXPECT_FALSE(reader.Append("\n\ndata: more\n\n", count));
  EXPECT_EQ(num_events, 0);
}

}  // namespace
}  // namespace adit::cli
