# Processor variants are files by suffix; each is compiled for its instruction set and chosen at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  file(GLOB avx2 CONFIGURE_DEPENDS src/*/*_avx2.c src/*/*/*_avx2.c)
  set_source_files_properties(${avx2} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c")
  file(GLOB avx512 CONFIGURE_DEPENDS src/*/*_avx512.c src/*/*/*_avx512.c)
  set_source_files_properties(${avx512} PROPERTIES COMPILE_OPTIONS "-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;-mfma;-mprefer-vector-width=512")
  # Only processors from before AVX2 run these: small rather than fast.
  set_source_files_properties(src/compute/gemm/gemm_baseline.c src/tile/loops_portable.c PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O2>")
endif()
