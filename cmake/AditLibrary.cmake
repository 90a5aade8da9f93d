# The installed library: the public headers, and one archive of all folders that the engine stands on.
set(folders base tensor kernels formats tokenizer grammar kv sched nn models sample plan engine)
set(objects "")
foreach(folder IN LISTS folders)
  list(APPEND objects $<TARGET_OBJECTS:adit_${folder}>)
endforeach()
foreach(set kernels_avx2 kernels_avx512 kernels_avx512bf16)
  if(TARGET adit_${set})
    list(APPEND objects $<TARGET_OBJECTS:adit_${set}>)
  endif()
endforeach()

add_library(adit_library STATIC ${objects})
set_target_properties(adit_library PROPERTIES OUTPUT_NAME adit EXPORT_NAME adit LINKER_LANGUAGE CXX)
target_compile_features(adit_library INTERFACE cxx_std_20)
target_include_directories(adit_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(adit_library INTERFACE Threads::Threads fmt::fmt $<INSTALL_INTERFACE:PkgConfig::ADIT_UTF8PROC>
                      $<INSTALL_INTERFACE:PkgConfig::ADIT_PCRE2>)

# The archive of XGrammar goes along: no package of the system has it.
if(TARGET adit_xgrammar)
  install(FILES ${ADIT_XGRAMMAR_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME libadit_xgrammar.a)
  target_link_libraries(adit_library INTERFACE
                        $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/libadit_xgrammar.a>)
endif()

include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/adit)
configure_package_config_file(cmake/aditConfig.cmake.in ${PROJECT_BINARY_DIR}/aditConfig.cmake
                              INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/aditConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(TARGETS adit_library EXPORT aditTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT aditTargets NAMESPACE adit:: DESTINATION ${config_dir})
install(FILES ${PROJECT_BINARY_DIR}/aditConfig.cmake ${PROJECT_BINARY_DIR}/aditConfigVersion.cmake
        DESTINATION ${config_dir})
install(DIRECTORY include/adit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_BINARY_DIR}/generated/adit/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/adit)
