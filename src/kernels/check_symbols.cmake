# Fails when the objects of an instruction set define code outside that set's namespace. Such a function, say a template of
# the standard library, may be in other objects too, and the linker keeps one copy for all: the one that an older processor
# cannot run. Names are mangled, and a namespace or class in them has its length before it.
string(LENGTH ${ISA} length)
set(failed "")
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${NM} --defined-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[0-9a-f]+ [TWi] [^\n]+" code "${symbols}")
  foreach(symbol IN LISTS code)
    if(NOT symbol MATCHES "${length}${ISA}")
      string(APPEND failed "  ${symbol} in ${object}\n")
    endif()
  endforeach()
endforeach()
if(failed)
  message(FATAL_ERROR "code compiled for ${ISA} outside its namespace:\n${failed}")
endif()
