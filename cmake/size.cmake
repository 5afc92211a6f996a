# Release builds inline and unroll where time is spent: engines, kernels of groups, tensors, calls, the interpreter. The
# rest is compiled for less memory: -O3 there makes the library a tenth larger and nothing measurably faster.
function(wick_compile_files_for options)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU") # these are gcc's alone
    list(FILTER options EXCLUDE REGEX "^-fvect-cost-model|^-fno-align-(jumps|labels)|^-Wno-maybe-uninitialized")
  endif()
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS "$<$<CONFIG:Release>:${options}>")
endfunction()
function(wick_compile_for options)
  foreach(folder ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS src/${folder}/*.c src/${folder}/*/*.c)
    wick_compile_files_for("${options}" ${sources})
  endforeach()
endfunction()
# read once, when a program is loaded; its graphs
wick_compile_for("-Os" frontend serial module schema report trace syntax type ir)
# passes over them, and operators, whose loops are still vectorized as by -O3
set(vectorized -O2 -ftree-vectorize -fvect-cost-model=dynamic)
wick_compile_for("${vectorized}" pass autodiff op api executor fuse ivalue)
# factors of matrices, four times: for float, double and both kinds of complex numbers
wick_compile_for("${vectorized}" compute/linalg)
# what libraries and engines compute, or few do
wick_compile_for("-Os" op/fft op/linalg op/quantized op/sparse autodiff)
# no gaps before functions and where jumps lead, only before loops
wick_compile_for("-fno-align-functions;-fno-align-jumps;-fno-align-labels" ir pass syntax type autodiff api executor fuse op)
# with less inlining gcc's flow warning sees paths that are not there
wick_compile_for("-Wno-maybe-uninitialized" frontend serial module schema report trace api op/fft op/linalg op/quantized
                 op/sparse autodiff)
# what a program asks for now and then: graphs from outside, their text, registering, loading, building; devices, whose
# own work takes longer
file(GLOB seldom CONFIGURE_DEPENDS src/api/ir_*.c src/api/foreign_*.c src/ir/parse.c src/ir/print*.c src/tensor/device*.c
     src/call/device_kernel.c src/call/operator_library.c src/fuse/backend.c src/fuse/compiled.c src/fuse/device_formula.c)
wick_compile_files_for("-Os" ${seldom} src/api/archive.c src/api/build.c src/api/compile.c src/api/load.c src/api/module.c
                       src/api/dlpack.c
                       src/api/overloads.c src/api/runtime.c src/api/trace.c src/api/trees.c src/api/save.c src/api/write.c
                       src/api/freeze.c src/api/generators.c src/api/prepare.c src/api/profile.c src/api/stages.c)
# rows that call others or ask engines, or whose loops few programs wait for
file(GLOB asked CONFIGURE_DEPENDS src/op/nn/attention*.c src/op/nn/linear*.c src/op/tensor/pointwise*.c)
wick_compile_files_for("-Os" ${asked} src/op/nn/conv.c src/op/nn/dropout.c src/op/nn/loss.c
                       src/op/nn/pool_fractional.c src/op/nn/rnn.c src/op/nn/rnn_layers.c src/op/nn/upsample.c
                       src/op/tensor/composite.c src/op/tensor/foreach.c src/op/tensor/random_rows.c
                       src/op/tensor/sample.c src/op/tensor/search.c src/op/tensor/tensor_attribute.c
                       src/tensor/sparse.c)
wick_compile_files_for("${vectorized}" src/compute/conv/flat_few.c src/compute/resample/resample.c src/tensor/convert.c
                       src/tensor/copy.c src/tensor/iterate.c src/tensor/quantizer.c src/tensor/random.c)
# kernels are made once; the loops over blocks are many, one for each operation and type
wick_compile_files_for("-Os" src/tile/formula.c src/tile/kernel_ir.c src/tile/program.c)
wick_compile_files_for("${vectorized}" src/tile/loops_avx2.c src/tile/loops_complex.c src/tile/special.c)
# loops without rests: what -O3 adds are copies of them
file(GLOB maxima CONFIGURE_DEPENDS src/compute/pool/pool_maximum_avx*.c)
wick_compile_files_for("${vectorized}" ${maxima})
# a loop for each accumulator, most of them over what was converted first; vectors that are written out
wick_compile_files_for("-O2" src/compute/reduce/reduce_ops.c
                       src/compute/reduce/reduce_float32_avx2.c src/tile/line_sum_f64.c)
# bookkeeping of memory that outlasts calls
wick_compile_files_for("-Os" src/tensor/storage_share.c src/tensor/storage_alike.c src/base/lasting.c src/base/heap.c
                       src/executor/executor_trim.c src/api/module_memory.c src/api/dlpack.c src/api/write.c
                       src/api/prepare.c src/executor/graph_executor_print.c
                       src/executor/compile_times.c src/executor/plan_cost.c)
