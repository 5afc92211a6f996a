# What view/ has becomes one page in three pieces, embedded into the command at build time. The script and the style are
# named by their hashes in the page's Content-Security-Policy: nothing else of the page can run.
set(view_scripts data.js model.js layout.js times.js pane.js panels.js main.js)
list(TRANSFORM view_scripts PREPEND ${PROJECT_SOURCE_DIR}/view/)
set(view_files ${PROJECT_SOURCE_DIR}/view/page.html ${PROJECT_SOURCE_DIR}/view/style.css
  ${PROJECT_SOURCE_DIR}/third_party/dagre/dagre.min.js ${view_scripts})
set(view_c ${PROJECT_BINARY_DIR}/generated/view_page_data.c)
add_custom_command(
  OUTPUT ${view_c}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${view_c} "-DFILES=${view_files}" -P ${PROJECT_SOURCE_DIR}/cmake/embed_view.cmake
  DEPENDS ${view_files} ${PROJECT_SOURCE_DIR}/cmake/embed_view.cmake
  VERBATIM)
add_library(wick_view_page OBJECT ${view_c})
target_link_libraries(wick_view_page PRIVATE wick_flags)
list(APPEND WICK_CLI_SOURCES $<TARGET_OBJECTS:wick_view_page>)
