# cmake -DSOURCE=DIR -DOUT=FILE -P revision.cmake: writes FILE, a source that says which commit DIR is at, if it has changed.
cmake_minimum_required(VERSION 3.24)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=9 --exclude *
                OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(revision "")
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#include \"cli/revision.h\"

namespace adit::cli {

const char* Revision() { return \"@revision@\"; }

}  // namespace adit::cli
" @ONLY)
