#include "server/multipart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace adit::server {
namespace {

using ::testing::HasSubstr;

constexpr const char* kType = "multipart/form-data; boundary=XX";

TEST(ParseForm, GivesFieldsAndFiles) {
  const std::string body =
      "preamble\r\n--XX\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n"
      "--XX  \r\nContent-Type: text/plain\r\ncontent-disposition: FORM-DATA; filename=\"a \\\"b\\\";c.jsonl\"; "
      "name=file\r\n"
      "\r\n{}\r\n--X\r\n\r\n--XX\r\nContent-Disposition: form-data; name=empty\r\n\r\n\r\n--XX--\r\nepilogue";
  const auto parts = ParseForm("Multipart/Form-Data; charset=x; boundary=\"XX\"", body);
  ASSERT_TRUE(parts.ok()) << parts.status().ToString();
  ASSERT_EQ(parts->size(), 3u);
  EXPECT_EQ((*parts)[0].name, "purpose");
  EXPECT_EQ((*parts)[0].content, "batch");
  EXPECT_EQ((*parts)[1].name, "file");
  EXPECT_EQ((*parts)[1].filename, "a \"b\";c.jsonl");
  EXPECT_EQ((*parts)[1].content, "{}\r\n--X\r\n");
  EXPECT_EQ((*parts)[2].content, "");
}

TEST(ParseForm, SaysWhatIsWrong) {
  const auto error_of = [](const std::string& type, const std::string& body) {
    const auto parts = ParseForm(type, body);
    EXPECT_FALSE(parts.ok()) << body;
    return parts.status().message();
  };
  EXPECT_THAT(error_of("application/json", "{}"), HasSubstr("multipart/form-data is wanted"));
  EXPECT_EQ(ParseForm("text/plain", "").status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(error_of("multipart/form-data", "--\r\n"), HasSubstr("no boundary"));
  EXPECT_THAT(error_of("multipart/form-data; boundary=" + std::string(71, 'x'), ""), HasSubstr("no boundary"));
  EXPECT_THAT(error_of(kType, "nothing"), HasSubstr("boundary is not there"));
  EXPECT_THAT(error_of(kType, "--XX"), HasSubstr("no end"));
  EXPECT_THAT(error_of(kType, "--XX\r\nContent-Disposition: form-data; name=a\r\n\r\nx"), HasSubstr("'a' has no end"));
  EXPECT_THAT(error_of(kType, "--XX\r\n\r\n\r\n--XX--"), HasSubstr("Content-Disposition"));
  EXPECT_THAT(error_of(kType, "--XX\r\nContent-Disposition: attachment; name=a\r\n\r\n\r\n--XX--"),
              HasSubstr("Content-Disposition"));
  EXPECT_THAT(error_of(kType, "--XX\r\nA: " + std::string(9000, 'x') + "\r\n\r\n\r\n--XX--"), HasSubstr("8192 bytes"));
  std::string many;
  for (int i = 0; i < 33; ++i) many += "--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n";
  EXPECT_THAT(error_of(kType, many + "--XX--"), HasSubstr("more than 32 parts"));
}

}  // namespace
}  // namespace adit::server
