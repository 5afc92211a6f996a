# Release builds inline and unroll where time is spent: engines, kernels of groups, tensors, the interpreter. The rest is
# compiled for less memory: -O3 there makes the library an eighth larger and nothing measurably faster.
function(wick_compile_for options)
  foreach(folder ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS src/${folder}/*.c src/${folder}/*/*.c)
    set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS "$<$<CONFIG:Release>:${options}>")
  endforeach()
endfunction()
# read once, when a program is loaded; with less inlining gcc's flow warning sees paths that are not there
wick_compile_for("-Os;-Wno-maybe-uninitialized" frontend serial module schema)
# graphs, and operators, whose loops are still vectorized as by -O3
wick_compile_for("-O2;-ftree-vectorize;-fvect-cost-model=dynamic" ir pass syntax type autodiff op)
