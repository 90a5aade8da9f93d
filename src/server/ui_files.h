#ifndef ADIT_SERVER_UI_FILES_H_
#define ADIT_SERVER_UI_FILES_H_

#include <span>
#include <string_view>

namespace adit::server {

// A file of the web page, part of the program.
struct UiFile {
  std::string_view name;
  std::string_view text;
};

// Those of src/server/ui.
std::span<const UiFile> UiFiles();

}  // namespace adit::server

#endif  // ADIT_SERVER_UI_FILES_H_
