# cmake -D OUT=ui_files.cc -D FOLDER=ui -D FILES=a.html,b.js -P embed_files.cmake
# writes C++ that holds the texts of the files, as src/server/ui_files.h declares them.
string(REPLACE "," ";" names "${FILES}")
set(entries "")
foreach(name IN LISTS names)
  file(READ "${FOLDER}/${name}" text)
  string(FIND "${text}" ")adit\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${FOLDER}/${name} holds what ends the literal that it is put in")
  endif()
  string(APPEND entries "    {\"${name}\", R\"adit(${text})adit\"},\n")
endforeach()
file(WRITE "${OUT}" "// Made by cmake/embed_files.cmake.
#include \"server/ui_files.h\"

namespace adit::server {
namespace {
constexpr UiFile kFiles[] = {
${entries}};
}  // namespace

std::span<const UiFile> UiFiles() { return kFiles; }

}  // namespace adit::server
")
