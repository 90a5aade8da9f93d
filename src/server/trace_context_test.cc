#include "server/trace_context.h"

#include <gtest/gtest.h>

namespace adit::server {
namespace {

constexpr const char* kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr const char* kParent = "00f067aa0ba902b7";

TEST(TraceContext, IsReadFromTheHeader) {
  // The example of the standard.
  const TraceContext context = ParseTraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  EXPECT_EQ(context.trace_id, kTrace);
  EXPECT_EQ(context.parent_id, kParent);
  EXPECT_TRUE(context.sampled);
  EXPECT_FALSE(ParseTraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00").sampled);
  EXPECT_TRUE(ParseTraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff").sampled);
  EXPECT_FALSE(ParseTraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0a").sampled);
}

TEST(TraceContext, LaterVersionsMayHaveMoreBehindTheFlags) {
  EXPECT_EQ(ParseTraceParent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").trace_id, kTrace);
  EXPECT_EQ(ParseTraceParent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more").trace_id, kTrace);
  EXPECT_EQ(ParseTraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more").trace_id, "");
}

TEST(TraceContext, WhatIsNoneBeginsATrace) {
  for (const char* header :
       {"", "-", "00", "00-", "00-4bf92f3577b34da6a3ce929d0e0e4736",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736x00f067aa0ba902b7-01",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more"}) {
    const TraceContext context = ParseTraceParent(header);
    EXPECT_EQ(context.trace_id, "") << header;
    EXPECT_EQ(context.parent_id, "") << header;
    EXPECT_TRUE(context.sampled) << header;
  }
}

}  // namespace
}  // namespace adit::server
