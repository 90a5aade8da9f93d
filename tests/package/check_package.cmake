set(folder ${BUILD}/package_test)
file(REMOVE_RECURSE ${folder})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder}/installed
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
set(flags "")
if(FLAGS)
  set(flags -fsanitize=${FLAGS})
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE}/examples/generate -B ${folder}/build -G Ninja
                        -DCMAKE_PREFIX_PATH=${folder}/installed -DCMAKE_CXX_COMPILER=${COMPILER}
                        -DCMAKE_CXX_FLAGS=${flags} -DCMAKE_BUILD_TYPE=Release
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${folder}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${folder}/build/generate ${SOURCE}/tests/goldens/models/llama.gguf hello world
                OUTPUT_VARIABLE answer COMMAND_ERROR_IS_FATAL ANY)
if(NOT answer MATCHES "hello.*\n.*world.*again, with [1-9][0-9]* of [0-9]+ prompt tokens cached")
  message(FATAL_ERROR "unexpected answer:\n${answer}")
endif()
