#include "engine/event_stream.h"

#include <gtest/gtest.h>

#include <thread>

namespace adit::engine {
namespace {

Event Token(int32_t id) { return {.kind = Event::Kind::kToken, .token = id}; }

TEST(EventStream, KeepsTheOrderAndEndsAfterTheLastEvent) {
  EventStream stream(4, [] {});
  EXPECT_FALSE(stream.TryNext().has_value());
  for (int32_t i = 0; i < 300; ++i) stream.Push(Token(i));
  stream.Push({.kind = Event::Kind::kDone});
  for (int32_t i = 0; i < 300; ++i) EXPECT_EQ(stream.Next()->token, i);
  EXPECT_EQ(stream.Next()->kind, Event::Kind::kDone);
  EXPECT_FALSE(stream.Next().has_value());
  EXPECT_FALSE(stream.Next().has_value());
}

TEST(EventStream, WakesTheEngineOnceTheReaderHasMadeRoom) {
  int woken = 0;
  EventStream stream(8, [&] { ++woken; });
  for (int32_t i = 0; i < 7; ++i) stream.Push(Token(i));
  EXPECT_TRUE(stream.HasRoom(1));
  stream.Push(Token(7));
  EXPECT_FALSE(stream.HasRoom(1));
  for (int i = 0; i < 3; ++i) (void)stream.Next();
  EXPECT_EQ(woken, 0);
  (void)stream.Next();
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(stream.HasRoom(1));
  while (stream.TryNext()) {
  }
  EXPECT_EQ(woken, 1);
}

TEST(EventStream, CallsOnReadyWhenThereIsSomethingNew) {
  int ready = 0;
  EventStream stream(8, [] {});
  stream.SetOnReady([&] { ++ready; });
  stream.Push(Token(1));
  stream.Push(Token(2));
  EXPECT_EQ(ready, 1);
  (void)stream.TryNext();
  (void)stream.TryNext();
  stream.Push(Token(3));
  EXPECT_EQ(ready, 2);
}

TEST(EventStream, ServesAReaderOnAnotherThread) {
  EventStream stream(16, [] {});
  std::jthread writer([&] {
    for (int32_t i = 0; i < 10000; ++i) stream.Push(Token(i));
    stream.Push({.kind = Event::Kind::kDone});
  });
  for (int32_t i = 0; i < 10000; ++i) ASSERT_EQ(stream.Next()->token, i);
  EXPECT_EQ(stream.Next()->kind, Event::Kind::kDone);
}

}  // namespace
}  // namespace adit::engine
