# The shared and the static library, the command, and what is installed.
#
# The target wick_static holds wick's objects with their inner names, for the command and the tests. libwick.a, which is
# installed and which programs link as wick::wick_static, is one object whose inner names are local, so that they can't
# clash with a program's; rows are data, so -lwick needs no whole-archive flags.
include(GNUInstallDirs)
include(cmake/libraries.cmake)

add_library(wick_static STATIC $<TARGET_OBJECTS:wick_objects>)
set_target_properties(wick_static PROPERTIES OUTPUT_NAME wick_inner)
target_link_libraries(wick_static PUBLIC wick_flags)

add_library(wick_shared SHARED $<TARGET_OBJECTS:wick_objects>)
set_target_properties(wick_shared PROPERTIES OUTPUT_NAME wick VERSION ${PROJECT_VERSION} SOVERSION 0
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/wick.map)
target_link_libraries(wick_shared PRIVATE wick_flags)
target_include_directories(wick_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_options(wick_shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/wick.map)
add_library(wick::wick_shared ALIAS wick_shared)
add_library(wick::wick ALIAS wick_shared)
# Rows are full of addresses: their relocations take a thirtieth of the place packed, which glibc reads since 2.36.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,-z,pack-relative-relocs)
check_c_source_compiles("
#include <features.h>
#if !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 36)
#error
#endif
int main(void) { return 0; }" WICK_HAS_PACKED_RELOCATIONS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(WICK_HAS_PACKED_RELOCATIONS)
  target_link_options(wick_shared PRIVATE -Wl,-z,pack-relative-relocs)
endif()
# Its threads may be at work when a program closes it.
target_link_options(wick_shared PRIVATE -Wl,-z,nodelete)

set(libwick ${PROJECT_BINARY_DIR}/libwick.a)
add_custom_command(OUTPUT ${libwick}
  COMMAND ${CMAKE_LINKER} -r --whole-archive $<TARGET_FILE:wick_static> -o wick_one.o
  COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=wick_* wick_one.o
  COMMAND ${CMAKE_COMMAND} -E rm -f ${libwick}
  COMMAND ${CMAKE_AR} rcs ${libwick} wick_one.o
  DEPENDS wick_static
  VERBATIM)
add_custom_target(wick_archive ALL DEPENDS ${libwick})
add_library(wick_one STATIC IMPORTED GLOBAL)
add_dependencies(wick_one wick_archive)
set_target_properties(wick_one PROPERTIES IMPORTED_LOCATION ${libwick}
  INTERFACE_INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/include
  INTERFACE_LINK_LIBRARIES "${ZLIB_LIBRARIES};${CMAKE_THREAD_LIBS_INIT};m;${CMAKE_DL_LIBS}")
add_library(wick::wick_static ALIAS wick_one)

if(WICK_CLI_SOURCES)
  # all of the objects: libraries that the command loads call the whole of the API
  add_executable(wick_cli ${WICK_CLI_SOURCES} $<TARGET_OBJECTS:wick_objects>)
  set_target_properties(wick_cli PROPERTIES OUTPUT_NAME wick)
  target_link_libraries(wick_cli PRIVATE wick_static wick_flags)
  target_link_options(wick_cli PRIVATE -Wl,--dynamic-list=${PROJECT_SOURCE_DIR}/cmake/wick.list)
endif()
# What `make` builds: what is installed.
add_custom_target(product DEPENDS wick_shared wick_archive)
if(TARGET wick_cli)
  add_dependencies(product wick_cli)
endif()
if(libraries)
  add_dependencies(product ${libraries} ${libraries_of_devices})
endif()
if(NOT WICK_INSTALL)
  return()
endif()

include(cmake/manual.cmake)
# What a program that links libwick.a needs beside it.
set(WICK_PRIVATE_LIBS "-lpthread -lm -ldl")
if(ZLIB_FOUND)
  string(PREPEND WICK_PRIVATE_LIBS "-lz ")
  set(WICK_PRIVATE_TARGETS "ZLIB::ZLIB;")
endif()
# wick.pc finds its prefix from where it lies, so that the installed tree can be moved and `cmake --install --prefix` holds.
file(RELATIVE_PATH WICK_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" WICK_PC_TO_PREFIX "${WICK_PC_TO_PREFIX}")
file(RELATIVE_PATH WICK_CONFIG_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/cmake/wick /prefix)
configure_file(cmake/wick.pc.in wick.pc @ONLY)
configure_file(cmake/wickConfig.cmake.in wickConfig.cmake @ONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wickConfigVersion.cmake COMPATIBILITY SameMinorVersion)
if(TARGET wick_cli)
  install(TARGETS wick_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  install(FILES scripts/completion/wick.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME wick
    COMPONENT command)
  install(FILES scripts/completion/_wick DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT command)
  install(FILES scripts/completion/wick.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
    COMPONENT command)
endif()
install(TARGETS wick_shared EXPORT wick LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  NAMELINK_COMPONENT development)
if(libraries)
  install(TARGETS ${libraries} ${libraries_of_devices} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/wick COMPONENT library)
endif()
set(development COMPONENT development)
install(FILES ${libwick} DESTINATION ${CMAKE_INSTALL_LIBDIR} ${development})
install(DIRECTORY include/wick DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${development})
install(FILES ${PROJECT_BINARY_DIR}/wick.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${development})
install(EXPORT wick NAMESPACE wick:: FILE wickTargets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/wick ${development})
install(FILES ${PROJECT_BINARY_DIR}/wickConfig.cmake ${PROJECT_BINARY_DIR}/wickConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/wick ${development})
