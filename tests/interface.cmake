# wick.h alone is strict C99 and C++; a program links libwick.a without special flags and runs a model; the example library of operators
# loads into the command.
find_program(WICK_CXX NAMES c++ g++ clang++)
if(NOT WICK_CXX)
  message(STATUS "no C++ compiler: the headers are not tested as C++")
endif()
foreach(header wick.h wick_dlpack.h)
  add_test(NAME header_c99_${header} COMMAND ${CMAKE_C_COMPILER} -std=c99 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only
    -I${CMAKE_SOURCE_DIR}/include -x c ${CMAKE_SOURCE_DIR}/include/wick/${header})
  if(WICK_CXX)
    add_test(NAME header_cxx_${header} COMMAND ${WICK_CXX} -std=c++11 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only
      -I${CMAKE_SOURCE_DIR}/include -x c++ ${CMAKE_SOURCE_DIR}/include/wick/${header})
  endif()
endforeach()

add_executable(example_call ${CMAKE_SOURCE_DIR}/examples/call.c)
target_include_directories(example_call PRIVATE ${CMAKE_SOURCE_DIR}/include)
add_dependencies(example_call wick_archive)
target_link_libraries(example_call PRIVATE ${CMAKE_BINARY_DIR}/libwick.a ZLIB::ZLIB Threads::Threads m ${CMAKE_DL_LIBS})
if(OpenMP_C_FOUND AND NOT WICK_SANITIZE MATCHES "thread")
  target_link_libraries(example_call PRIVATE OpenMP::OpenMP_C)
endif()
if(WICK_SANITIZE)
  target_link_options(example_call PRIVATE -fsanitize=${WICK_SANITIZE})
endif()
file(GLOB linear ${CMAKE_CURRENT_SOURCE_DIR}/program/linear.pt)
if(linear)
  add_test(NAME static_library COMMAND example_call ${linear} 2 3)
endif()

add_library(magic_ops MODULE ${CMAKE_SOURCE_DIR}/examples/magic_ops.c)
target_include_directories(magic_ops PRIVATE ${CMAKE_SOURCE_DIR}/include)
set_target_properties(magic_ops PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden)
if(TARGET wick_cli)
  add_test(NAME operator_library COMMAND wick_cli run --library $<TARGET_FILE:magic_ops> --method forward
    ${CMAKE_CURRENT_SOURCE_DIR}/program/magic.py "ones(2)")
  set_tests_properties(operator_library PROPERTIES PASS_REGULAR_EXPRESSION "4")
endif()

# What is installed compiles and links by pkg-config. A sanitized library needs its runtime, which pkg-config doesn't name.
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG AND NOT WICK_SANITIZE)
  add_test(NAME installed_tree COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/installed.sh ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR} ${CMAKE_C_COMPILER})
endif()
