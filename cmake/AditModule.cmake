# adit_module(kv SOURCES a.cc DEPS base LIBS fmt::fmt TESTS a_test.cc TEST_DEPS formats)
# makes the library adit_kv (alias adit::kv) and its test program kv_test. PRELUDE names another prelude than `prelude`.
# HOT: what it does for each number of a tensor or of the logits counts: -O3. COLD: it runs once for a request or less
# often, and is much text: -Og, which takes half the time to compile that -O3 takes.
# DEPS must stand in the folder's row of docs/layers.txt. TEST_DEPS are further modules that only tests use.

file(STRINGS ${PROJECT_SOURCE_DIR}/docs/layers.txt ADIT_LAYER_ROWS REGEX "^[a-z]+:")

function(adit_check_layer name)
  set(allowed "")
  set(found FALSE)
  foreach(row IN LISTS ADIT_LAYER_ROWS)
    if(row MATCHES "^${name}:(.*)$")
      set(found TRUE)
      string(REPLACE " " ";" allowed "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  if(NOT found)
    message(FATAL_ERROR "docs/layers.txt has no row for '${name}'")
  endif()
  foreach(dep IN LISTS ARGN)
    if(NOT dep IN_LIST allowed)
      message(FATAL_ERROR "src/${name} may not depend on '${dep}': see docs/layers.txt")
    endif()
  endforeach()
endfunction()

# Options that every target of ours shares; never set for a whole directory.
function(adit_target_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
                                             VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
                                              ${PROJECT_BINARY_DIR}/generated)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                                           -Wimplicit-fallthrough -Wno-missing-field-initializers
                                           -ffp-contract=off)
  if(ADIT_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE -Wthread-safety)
  else()
    # gcc 12 sees uninitialized members where a temporary with designated initialisers is destroyed early.
    # It collects garbage from 128 MB on; from 512 MB on it does so in few files, and is a twentieth faster.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized --param=ggc-min-heapsize=524288)
  endif()
  if(ADIT_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${ADIT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${ADIT_SANITIZE})
  endif()
  if(ADIT_BUILD_FUZZERS)
    # libFuzzer is guided by what is covered in the libraries too.
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  if(ADIT_COVERAGE)
    target_compile_options(${target} PUBLIC --coverage)
    target_link_options(${target} PUBLIC --coverage)
  endif()
endfunction()

# What gcc 12 says of the standard library's strings is wrong with -O1 and -Og, and in files that use preludes.
set(ADIT_STRING_WARNINGS "")
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(ADIT_STRING_WARNINGS -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
endif()
# Tests are optimised a little: -Og compiles a sixth faster than -O1.
set(ADIT_TEST_OPTIONS $<$<CONFIG:Release>:-Og> ${ADIT_STRING_WARNINGS})

# Preludes: headers that nearly every file of a kind includes, compiled once per kind; half of the time that a file takes.
# Every file names what it includes all the same. A compiler cache keeps files that use preludes only with settings of
# its own, and is faster still, so with one there are none.
# PROGRAMS: for files of programs, which are compiled to run in one place, not of libraries.
function(adit_prelude name)
  cmake_parse_arguments(ARG "PROGRAMS" "" "LIBS;HEADERS;OPTIONS" ${ARGN})
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/${name}.cc CONTENT "int main() { return 0; }\n")
  if(ARG_PROGRAMS)
    add_executable(adit_${name} ${PROJECT_BINARY_DIR}/generated/${name}.cc)
  else()
    add_library(adit_${name} OBJECT ${PROJECT_BINARY_DIR}/generated/${name}.cc)
  endif()
  adit_target_options(adit_${name})
  target_link_libraries(adit_${name} PRIVATE ${ARG_LIBS})
  target_compile_options(adit_${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(adit_${name} PRIVATE ${ARG_HEADERS})
endfunction()

function(adit_use_prelude target name)
  if(TARGET adit_${name})
    target_link_libraries(${target} PRIVATE fmt::fmt)
    target_compile_options(${target} PRIVATE ${ADIT_STRING_WARNINGS})
    target_precompile_headers(${target} REUSE_FROM adit_${name})
  endif()
endfunction()

set(standard_headers <algorithm> <array> <atomic> <chrono> <functional> <map> <memory> <mutex> <optional> <span> <string>
                     <string_view> <unordered_map> <variant> <vector>)
adit_prelude(prelude LIBS fmt::fmt HEADERS ${standard_headers} <fmt/format.h>)
adit_prelude(json_prelude LIBS fmt::fmt HEADERS ${standard_headers} <fmt/format.h> <nlohmann/json.hpp>)
if(ADIT_BUILD_TESTS)
  set(test_headers ${standard_headers} <fmt/core.h> <random> <gmock/gmock.h> <gtest/gtest.h>)
  adit_prelude(test_prelude PROGRAMS LIBS fmt::fmt GTest::gmock HEADERS ${test_headers} OPTIONS ${ADIT_TEST_OPTIONS})
endif()

# Files of one folder that are compiled together read their headers once, and what templates make for them is made once:
# less than half of the time of a clean build. After a change of one file all of its batch is compiled again, so with a
# compiler cache, which keeps the others, each is compiled by itself. No name in an unnamed namespace stands twice in a
# folder (tools/check_names.py).
function(adit_compile_together target)
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 24)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # It takes what a file has for itself for what a header has.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  else()
    # To clang a file's own name also hides one that another file's header brings into the batch.
    target_compile_options(${target} PRIVATE -Wno-shadow)
  endif()
endfunction()

# adit_test(name SOURCES a_test.cc LIBS adit::kv LABELS fast): one GoogleTest program, each test known to ctest.
function(adit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;LABELS;INCLUDES" ${ARGN})
  if(NOT ADIT_BUILD_TESTS)
    return()
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS fast)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE ADIT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             ADIT_SHARED_DIR="${PROJECT_SOURCE_DIR}/../shared")
  adit_target_options(${name})
  target_compile_options(${name} PRIVATE ${ADIT_TEST_OPTIONS})
  adit_use_prelude(${name} test_prelude)
  adit_compile_together(${name})
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600)
endfunction()

function(adit_module name)
  cmake_parse_arguments(ARG "HOT;COLD" "" "SOURCES;DEPS;LIBS;PRIVATE_LIBS;PRELUDE;TESTS;TEST_DEPS" ${ARGN})
  adit_check_layer(${name} ${ARG_DEPS})
  add_library(adit_${name} STATIC ${ARG_SOURCES})
  add_library(adit::${name} ALIAS adit_${name})
  adit_target_options(adit_${name})
  if(ARG_HOT)
    target_compile_options(adit_${name} PRIVATE $<$<CONFIG:Release>:-O3>)
  elseif(ARG_COLD)
    target_compile_options(adit_${name} PRIVATE $<$<CONFIG:Release>:-Og> ${ADIT_STRING_WARNINGS})
  endif()
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(adit_${name} PUBLIC adit::${dep})
  endforeach()
  target_link_libraries(adit_${name} PUBLIC ${ARG_LIBS} PRIVATE ${ARG_PRIVATE_LIBS})
  if(NOT ARG_PRELUDE)
    set(ARG_PRELUDE prelude)
  endif()
  adit_use_prelude(adit_${name} ${ARG_PRELUDE})
  adit_compile_together(adit_${name})
  if(ARG_TESTS)
    set(libs adit::${name})
    foreach(dep IN LISTS ARG_TEST_DEPS)
      list(APPEND libs adit::${dep})
    endforeach()
    adit_test(${name}_test SOURCES ${ARG_TESTS} LIBS ${libs} ${ARG_PRIVATE_LIBS})
  endif()
endfunction()

# adit_isa_module(kernels_avx2 SOURCES ... FLAGS -mavx2 ...): objects compiled for one instruction set,
# linked into adit_kernels. The flags reach these files and no others.
function(adit_isa_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;FLAGS" ${ARGN})
  add_library(adit_${name} OBJECT ${ARG_SOURCES})
  adit_target_options(adit_${name})
  target_link_libraries(adit_${name} PRIVATE adit::tensor)
  target_compile_options(adit_${name} PRIVATE ${ARG_FLAGS} $<$<NOT:$<CONFIG:Debug>>:-O3>)
  if(ADIT_BUILD_FUZZERS)
    # No fuzz target runs them, and clang takes half an hour to watch all that they do.
    target_compile_options(adit_${name} PRIVATE -fno-sanitize=all)
  endif()
endfunction()
