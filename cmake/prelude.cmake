# Every prelude/*.py becomes one C array, embedded at build time.
file(GLOB WICK_PRELUDE CONFIGURE_DEPENDS prelude/*.py)
set(prelude_c ${PROJECT_BINARY_DIR}/generated/prelude_data.c)
add_custom_command(
  OUTPUT ${prelude_c}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${prelude_c} "-DFILES=${WICK_PRELUDE}" -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${WICK_PRELUDE} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  VERBATIM)
set(WICK_GENERATED_SOURCES ${prelude_c})
