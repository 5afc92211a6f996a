# Processor variants are files by suffix (src/base/processor.h), compiled where they run: SUFFIX, PROCESSORS (a pattern),
# and the options that let the compiler use the instructions.
function(wick_variant suffix processors)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(${processors})$")
    file(GLOB files CONFIGURE_DEPENDS src/*/*_${suffix}.c src/*/*/*_${suffix}.c)
    set_source_files_properties(${files} PROPERTIES COMPILE_OPTIONS "${ARGN}")
  else()
    list(FILTER WICK_SOURCES EXCLUDE REGEX "_${suffix}\\.c$")
    set(WICK_SOURCES ${WICK_SOURCES} PARENT_SCOPE)
  endif()
endfunction()
wick_variant(avx2 "x86_64|AMD64|amd64" -mavx2 -mfma -mf16c)
wick_variant(avx512 "x86_64|AMD64|amd64" -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512)
wick_variant(neon "aarch64|arm64|ARM64")
# Where there is a faster form for nearly all processors these are small rather than fast.
set_source_files_properties(src/compute/attention/attention_portable.c src/compute/gemm/gemm_portable.c
  src/compute/pool/pool_maximum_portable.c src/tile/loops_portable.c
  PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-Os>")
# Its vectors are written out: what -O2 adds to them are copies of loops, twice the size.
set_source_files_properties(src/compute/conv/flat_tile_portable.c PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-Os>")
