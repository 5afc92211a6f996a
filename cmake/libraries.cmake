# The libraries of operators: libraries/NAME/*.c becomes NAME.so, in the build's folder `libraries` and installed under
# <libdir>/wick, where wick looks for them by name. They see the public headers alone, and find wick's functions in the
# program that opens them.
file(RELATIVE_PATH WICK_LIBRARIES_FROM_PROGRAM /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR}/wick)
set_source_files_properties(src/call/operator_library.c PROPERTIES
  COMPILE_DEFINITIONS WICK_LIBRARIES_FROM_PROGRAM="${WICK_LIBRARIES_FROM_PROGRAM}")

add_library(wick_library_flags INTERFACE)
target_include_directories(wick_library_flags INTERFACE include libraries)
target_compile_options(wick_library_flags INTERFACE $<TARGET_PROPERTY:wick_flags,INTERFACE_COMPILE_OPTIONS>)
target_link_options(wick_library_flags INTERFACE $<TARGET_PROPERTY:wick_flags,INTERFACE_LINK_OPTIONS>)
target_compile_definitions(wick_library_flags INTERFACE _GNU_SOURCE)
target_link_libraries(wick_library_flags INTERFACE m)

set(libraries "")
if(WICK_LIBRARIES)
  set(libraries torch_scatter torch_sparse torchaudio torchtext torchvision)
endif()
foreach(name ${libraries})
  file(GLOB sources CONFIGURE_DEPENDS libraries/${name}/*.c libraries/kit/*.c)
  add_library(${name} MODULE ${sources})
  set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/libraries)
  target_link_libraries(${name} PRIVATE wick_library_flags)
endforeach()

# The libraries of devices: libwick_NAME.so, opened when a program asks for a device NAME. What drives the device is
# opened at run time; libraries/render writes kernels for all of them.
set(device_libraries "")
if(WICK_LIBRARIES)
  set(device_libraries cuda)
endif()
foreach(name ${device_libraries})
  file(GLOB sources CONFIGURE_DEPENDS libraries/${name}/*.c libraries/render/*.c)
  add_library(wick_${name} MODULE ${sources})
  set_target_properties(wick_${name} PROPERTIES PREFIX lib LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/libraries)
  target_link_libraries(wick_${name} PRIVATE wick_library_flags Threads::Threads ${CMAKE_DL_LIBS})
  list(APPEND libraries_of_devices wick_${name})
endforeach()
