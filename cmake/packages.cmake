# Debian's packages, by cpack: `make deb`.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "the wick developers <wick@localhost>")
set(CPACK_PACKAGE_HOMEPAGE_URL "")
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command library development)
if(TARGET wick_python)
  list(APPEND CPACK_COMPONENTS_ALL python3)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# opened where they are
set(optional "libdnnl2, libopenblas0, liblapacke, libfftw3-double3, libfftw3-single3, libcjson1, libpng16-16, \
libturbojpeg0, libsndfile1")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME wick)
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "${optional}")
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "TorchScript without libtorch: the command
 Loads, runs, checks, measures and shows TorchScript programs and archives.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libwick0)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "${optional}")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "TorchScript without libtorch: the library
 Loads, compiles, optimizes, runs, differentiates and saves TorchScript
 programs, with neither libtorch nor Python.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libwick-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libwick0 (= ${PROJECT_VERSION}), zlib1g-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "TorchScript without libtorch: headers
 The C and C++ headers, the static library, pkg-config and CMake files.")
if(TARGET wick_python) # for the Python that it was built for
  math(EXPR python_next "${WICK_PYTHON_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON3_PACKAGE_NAME python3-wick)
  set(CPACK_DEBIAN_PYTHON3_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON3_PACKAGE_SHLIBDEPS OFF) # it would look for libwick.so.0 among what is installed
  set(CPACK_DEBIAN_PYTHON3_PACKAGE_DEPENDS "libwick0 (= ${PROJECT_VERSION}), libc6, python3 (>= 3.${WICK_PYTHON_MINOR}), \
python3 (<< 3.${python_next})")
  set(CPACK_DEBIAN_PYTHON3_DESCRIPTION "TorchScript without libtorch: Python
 The package wick: tensors and TorchScript under torch's names.")
endif()
include(CPack)
