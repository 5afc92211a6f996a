# The manual's pages, made from what the command's --help prints. Where there is no Python, or the command would need an
# emulator or a sanitizer's runtime to run, wick is built and installed without them.
find_program(WICK_PYTHON3 python3)
if(NOT TARGET wick_cli OR NOT WICK_PYTHON3 OR CMAKE_CROSSCOMPILING OR WICK_SANITIZE)
  return()
endif()
set(manual ${PROJECT_BINARY_DIR}/man)
add_custom_command(OUTPUT ${manual}/wick.1
  COMMAND ${WICK_PYTHON3} ${PROJECT_SOURCE_DIR}/scripts/man.py $<TARGET_FILE:wick_cli> ${manual}
  DEPENDS wick_cli ${PROJECT_SOURCE_DIR}/scripts/man.py ${PROJECT_SOURCE_DIR}/scripts/docs/commands.py
    ${PROJECT_SOURCE_DIR}/docs/debugging.md
  VERBATIM)
add_custom_target(wick_manual ALL DEPENDS ${manual}/wick.1)
add_dependencies(product wick_manual)
install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
