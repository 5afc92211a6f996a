# Each public header alone is strict C99 and C++; a program links libwick.a without special flags and runs a model; the example library of operators
# loads into the command.
find_program(WICK_CXX NAMES c++ g++ clang++)
if(NOT WICK_CXX)
  message(STATUS "no C++ compiler: the headers are not tested as C++")
endif()
file(GLOB public_headers RELATIVE ${CMAKE_SOURCE_DIR}/include/wick CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/wick/*.h)
foreach(header ${public_headers})
  add_test(NAME header_c99_${header} COMMAND ${CMAKE_C_COMPILER} -std=c99 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only
    -I${CMAKE_SOURCE_DIR}/include -x c ${CMAKE_SOURCE_DIR}/include/wick/${header})
  if(WICK_CXX)
    add_test(NAME header_cxx_${header} COMMAND ${WICK_CXX} -std=c++11 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only
      -I${CMAKE_SOURCE_DIR}/include -x c++ ${CMAKE_SOURCE_DIR}/include/wick/${header})
  endif()
endforeach()

foreach(example call train)
  add_executable(example_${example} ${CMAKE_SOURCE_DIR}/examples/${example}.c)
  target_include_directories(example_${example} PRIVATE ${CMAKE_SOURCE_DIR}/include)
  add_dependencies(example_${example} wick_archive)
  target_link_libraries(example_${example} PRIVATE ${CMAKE_BINARY_DIR}/libwick.a $<$<BOOL:${ZLIB_FOUND}>:ZLIB::ZLIB> Threads::Threads m ${CMAKE_DL_LIBS})
  if(OpenMP_C_FOUND AND NOT WICK_SANITIZE MATCHES "thread")
    target_link_libraries(example_${example} PRIVATE OpenMP::OpenMP_C)
  endif()
  if(WICK_SANITIZE)
    target_link_options(example_${example} PRIVATE -fsanitize=${WICK_SANITIZE})
  endif()
endforeach()
# A short training from random weights.
add_test(NAME train COMMAND example_train ${CMAKE_SOURCE_DIR}/examples/digits/digits.npz
  ${CMAKE_CURRENT_SOURCE_DIR}/model/digits_cnn.pt 1 0.7)
file(GLOB linear ${CMAKE_CURRENT_SOURCE_DIR}/program/linear.pt)
if(linear)
  add_test(NAME static_library COMMAND example_call ${linear} 2 3)
endif()

add_executable(unload ${CMAKE_CURRENT_SOURCE_DIR}/unload.c)
target_include_directories(unload PRIVATE ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(unload PRIVATE wick_flags ${CMAKE_DL_LIBS})
# A library with wick in it, which may be closed while threads live that used it. What wick keeps for the process is lost
# with it: a leak to sanitizers.
if(NOT WICK_SANITIZE)
  add_library(wick_inside MODULE $<TARGET_OBJECTS:wick_objects>)
  target_link_libraries(wick_inside PRIVATE wick_flags)
  target_link_options(wick_inside PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/wick.map)
  set(wick_inside $<TARGET_FILE:wick_inside>)
endif()
add_test(NAME unload COMMAND unload $<TARGET_FILE:wick_shared> ${wick_inside})
set_tests_properties(unload PROPERTIES TIMEOUT 60)
# as gcc compiles it for x86-64, with relocations packed: cmake/size.cmake
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND CMAKE_C_COMPILER_ID STREQUAL "GNU"
   AND WICK_HAS_PACKED_RELOCATIONS)
  add_test(NAME library_size COMMAND sh ${PROJECT_SOURCE_DIR}/scripts/size.sh $<TARGET_FILE:wick_shared>)
endif()

add_executable(example_resolver ${CMAKE_SOURCE_DIR}/examples/resolver.c)
target_link_libraries(example_resolver PRIVATE ${whole_wick} wick_flags)
add_test(NAME example_resolver COMMAND example_resolver)
set_tests_properties(example_resolver PROPERTIES PASS_REGULAR_EXPRESSION "1\\.0000")

add_library(magic_ops MODULE ${CMAKE_SOURCE_DIR}/examples/magic_ops.c)
target_include_directories(magic_ops PRIVATE ${CMAKE_SOURCE_DIR}/include)
set_target_properties(magic_ops PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden)
if(TARGET wick_cli)
  foreach(script programs_in_plans commands command_help command_hints command_inputs command_looks command_outputs)
    add_test(NAME ${script} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/${script}.sh ${WICK_COMMAND})
  endforeach()
  # what people do with wick, from beginning to end
  file(GLOB stories CONFIGURE_DEPENDS stories/[0-9]*.sh)
  foreach(story ${stories})
    get_filename_component(name ${story} NAME_WE)
    if(WICK_SANITIZE AND name MATCHES "newcomer|embedder|server") # their own programs load the library
      continue()
    endif()
    add_test(NAME story_${name} COMMAND sh ${story} ${WICK_COMMAND} ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
    set_tests_properties(story_${name} PROPERTIES SKIP_RETURN_CODE 77 RESOURCE_LOCK installation) # its manifest is one file
  endforeach()
  if(Python3_FOUND)
    add_test(NAME story_lines COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/stories/count.py ${CMAKE_SOURCE_DIR})
  endif()
  add_test(NAME completion COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/completion.sh ${WICK_COMMAND} ${CMAKE_SOURCE_DIR})
  add_test(NAME demo COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/demo.sh ${WICK_COMMAND} ${CMAKE_SOURCE_DIR})
  if(Python3_FOUND AND WICK_TESTS_STATIC EQUAL -1)
    set(document_options)
    if(WICK_SANITIZE) # programs of the documents would need a sanitized library's runtime
      set(document_options --no-compiler)
    endif()
    add_test(NAME document_commands COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/document_commands.py
      $<TARGET_FILE:wick_cli> ${CMAKE_SOURCE_DIR} ${document_options})
    add_test(NAME manual COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/manual.sh ${Python3_EXECUTABLE} $<TARGET_FILE:wick_cli>
      ${CMAKE_SOURCE_DIR})
    foreach(script pictures sounds written_files terminal view_page view_browser)
      add_test(NAME ${script} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/${script}.py
        $<TARGET_FILE:wick_cli> ${CMAKE_SOURCE_DIR})
    endforeach()
    set_tests_properties(view_browser PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endif()
# The command needs nothing of the library but what it exports.
if(TARGET wick_cli AND WICK_TESTS_STATIC EQUAL -1)
  add_executable(command_of_shared ${WICK_CLI_SOURCES})
  target_include_directories(command_of_shared PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(command_of_shared PRIVATE wick_shared wick_flags)
  add_test(NAME command_of_shared COMMAND command_of_shared run ${CMAKE_CURRENT_SOURCE_DIR}/program/chain.py "ones(2)")
  set_tests_properties(command_of_shared PROPERTIES PASS_REGULAR_EXPRESSION "CPUFloatType")
endif()
if(TARGET wick_cli AND WICK_TESTS_STATIC EQUAL -1)
  add_test(NAME operator_library COMMAND wick_cli run --library $<TARGET_FILE:magic_ops> --method forward
    ${CMAKE_CURRENT_SOURCE_DIR}/program/magic.py "ones(2)")
  set_tests_properties(operator_library PROPERTIES PASS_REGULAR_EXPRESSION "^ 4\n 4\n")
endif()

add_library(compiler_example MODULE ${CMAKE_SOURCE_DIR}/examples/compiler/compiler.c)
target_include_directories(compiler_example PRIVATE ${CMAKE_SOURCE_DIR}/include)
set_target_properties(compiler_example PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden)
target_link_libraries(compiler_example PRIVATE m)
if(TARGET wick_cli AND WICK_TESTS_STATIC EQUAL -1)
  add_test(NAME compiler_library COMMAND wick_cli run --library $<TARGET_FILE:compiler_example> --method forward
    ${CMAKE_CURRENT_SOURCE_DIR}/program/chain.py "ones(2)")
  # a pass from the library by its name, and after wick's own among all of them
  add_test(NAME compiler_library_pass COMMAND wick_cli dump --library $<TARGET_FILE:compiler_example>
    --pass example_chain ${CMAKE_CURRENT_SOURCE_DIR}/program/chain.py)
  add_test(NAME compiler_library_all COMMAND wick_cli dump --library $<TARGET_FILE:compiler_example>
    --stage optimized --pass all --diff ${CMAKE_CURRENT_SOURCE_DIR}/program/chain.py "ones(2)")
  set_tests_properties(compiler_library_pass PROPERTIES PASS_REGULAR_EXPRESSION "example::chain_0")
  set_tests_properties(compiler_library_all PROPERTIES ENVIRONMENT WICK_BACKEND=none
    PASS_REGULAR_EXPRESSION "# after example_chain\n.*\n\\+[^\n]* = example::chain_0")
  set_tests_properties(compiler_library PROPERTIES PASS_REGULAR_EXPRESSION "0.76" ENVIRONMENT "WICK_EXECUTOR=specializing;WICK_BACKEND=none")
endif()

# Links between documents, their table of variables, and the site of them where mkdocs is installed.
if(Python3_FOUND)
  foreach(script document_links document_variables)
    add_test(NAME ${script} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/${script}.py ${CMAKE_SOURCE_DIR})
  endforeach()
  add_test(NAME document_figures COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/docs/figures.py)
  add_test(NAME make_help COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/make_help.sh ${CMAKE_SOURCE_DIR})
  if(TARGET wick_shared AND NOT WICK_SANITIZE)
    set_tests_properties(document_figures PROPERTIES ENVIRONMENT WICK_LIBRARY=$<TARGET_FILE:wick_shared>)
  endif()
  if(TARGET wick_cli AND WICK_TESTS_STATIC EQUAL -1 AND NOT WICK_SANITIZE)
    add_test(NAME document_site COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/docs/site.py ${CMAKE_BINARY_DIR}
      ${CMAKE_BINARY_DIR}/docs)
    set_tests_properties(document_site PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endif()

add_test(NAME setup COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/setup.sh ${CMAKE_SOURCE_DIR})

# What is installed compiles and links by pkg-config. A sanitized library needs its runtime, which pkg-config doesn't name.
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG AND NOT WICK_SANITIZE AND WICK_TESTS_STATIC EQUAL -1)
  add_test(NAME installed_tree COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/installed.sh ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR} ${CMAKE_C_COMPILER})
  set_tests_properties(installed_tree PROPERTIES RESOURCE_LOCK installation)
endif()

# Programs that embed wick, in several languages. Their linkers know nothing of a sanitizer's runtime.
if(NOT WICK_SANITIZE AND NOT CMAKE_CROSSCOMPILING AND WICK_TESTS_STATIC EQUAL -1)
  add_test(NAME embedding COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/embedding.sh ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR} ${CMAKE_C_COMPILER})
endif()

# The classes for C++, by the compilers for it that are there.
if(WICK_TESTS_STATIC EQUAL -1)
  set(sanitized "")
  if(WICK_SANITIZE)
    set(sanitized -fsanitize=${WICK_SANITIZE})
  endif()
  add_test(NAME wick_hpp COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cpp/wick_hpp.sh ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR} ${sanitized})
  set_tests_properties(wick_hpp PROPERTIES SKIP_RETURN_CODE 77 RESOURCE_LOCK installation) # its manifest is one file
endif()
