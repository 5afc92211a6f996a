/* wick/backend: a fusion back end that a library brings: it compiles and runs the kernels of fusion groups, and of
 * pointwise operators by themselves, on a device. A kernel says what is computed for each element, and nothing of
 * loops or the order of elements: a straight list of operations, each of which makes one value from values before it.
 *
 * Values are numbered: arguments first, then constants, then one for each operation. What a program computes with is
 * of five types; elements of all dtypes become one of these when they are loaded, and the output's dtype when stored
 * (as what that dtype can hold). */
#ifndef WICK_BACKEND_H
#define WICK_BACKEND_H

#include "wick/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { /* what a value is, in the order of promotion; new ones may come */
       WICK_KERNEL_BOOL = 0,
       WICK_KERNEL_INT64 = 1,
       WICK_KERNEL_FLOAT32 = 2,
       WICK_KERNEL_FLOAT64 = 3,
       WICK_KERNEL_COMPLEX128 = 4
};
typedef struct wick_kernel_constant {
  double real, imag;
  int64_t integer; /* of WICK_KERNEL_BOOL and WICK_KERNEL_INT64, for which the others are not set */
} wick_kernel_constant;
/* docs/kernel_ir.md says what each name computes. Names may come: a back end takes those that it knows. */
typedef struct wick_kernel_operation {
  const char *name;       /* "add", "exp", "select", "cast", "round_to"; of functions "special" and "line" */
  const char *function;   /* "erfinv", "line_sum": which one; NULL: the name says it */
  uint32_t type;          /* WICK_KERNEL_... of its operands; a condition's is BOOL, and see "cast" */
  uint32_t result_type;   /* of its value */
  uint32_t dtype;         /* of "round_to": to what this dtype can hold; else 0 */
  uint32_t operand_count; /* 1 to 3 */
  uint32_t operands[3];   /* values */
  uint32_t reserved;
} wick_kernel_operation;

enum {                              /* how an operand lies in memory */
       WICK_OPERAND_UNUSED = 0,     /* an argument that the kernel does not read */
       WICK_OPERAND_NUMBER = 1,     /* one number for all elements, no tensor */
       WICK_OPERAND_ELEMENT = 2,    /* a tensor without dimensions */
       WICK_OPERAND_CONTIGUOUS = 3, /* row-major without gaps, of its own sizes */
       WICK_OPERAND_DENSE = 4,      /* the sizes and strides of the first output, which has no gaps */
       WICK_OPERAND_STRIDED = 5
};
typedef struct wick_kernel_operand {
  uint32_t layout;  /* WICK_OPERAND_... */
  uint32_t dtype;   /* of a tensor; 0 for others */
  uint32_t repeats; /* bit d: one element for all of the outputs' dimension d */
} wick_kernel_operand;

/* A kernel with what of its operands code may be made for: all but sizes and strides. Borrowed: it holds as long as
 * the call that it is given to. */
typedef struct wick_kernel_ir {
  uint32_t size; /* sizeof(wick_kernel_ir) as wick knows it */
  uint32_t rank; /* of the outputs, up to 8 */
  uint32_t argument_count, constant_count, operation_count, output_count;
  const uint8_t *types; /* of the arguments: WICK_KERNEL_... */
  const uint8_t *constant_types;
  const wick_kernel_constant *constants;
  const wick_kernel_operation *operations;
  const uint32_t *outputs;             /* values */
  const wick_kernel_operand *operands; /* the arguments, then the outputs */
} wick_kernel_ir;

enum { /* what a run gives for an argument */
       WICK_ARGUMENT_NONE = 0,
       WICK_ARGUMENT_TENSOR = 1,
       WICK_ARGUMENT_NUMBER = 2
};
typedef struct wick_kernel_argument {
  uint32_t kind; /* WICK_ARGUMENT_... */
  uint32_t reserved;
  double real, imag;       /* the number, also where it is an integer */
  int64_t integer;         /* it as an INT64; for a BOOL argument 0 or 1 */
  wick_tensor_view tensor; /* `data` on the device, sizes and strides of the run */
} wick_kernel_argument;

/* Functions are called from any thread, several at once; free and bytes must call nothing of wick's. */
typedef struct wick_backend {
  uint32_t size;       /* sizeof(wick_backend) */
  int32_t device_type; /* PyTorch's number of it */
  const char *name;
  void *user;
  /* Whether it takes the kernel for such operands: quick, asked once for each. NULL: it takes all. */
  int (*supports)(void *user, const wick_kernel_ir *kernel);
  /* Makes the code. For fusion groups on a thread of wick's, while calls run operator by operator; for operators on the
   * thread that calls them. WICK_UNSUPPORTED and other errors are for good, WICK_OUT_OF_MEMORY is not. */
  wick_status (*compile)(void *user, const wick_kernel_ir *kernel, void **out_code, wick_error **error);
  /* Runs it for as many arguments and outputs as the kernel had. Outputs have one size, which the arguments broadcast
   * to, and may be exactly one of the arguments; sizes may be 0. */
  wick_status (*run)(void *user, void *code, const wick_kernel_argument *arguments, const wick_tensor_view *outputs,
                     wick_error **error);
  size_t (*bytes)(void *user, const void *code); /* of memory that it takes: wick bounds the sum */
  void (*free)(void *user, void *code);
} wick_backend;
/* Adds a back end for the rest of the process; calls for its device prefer it to those that were there. The struct
 * and its name are copied. */
WICK_API wick_status wick_backend_register(const wick_backend *backend, wick_error **error);

#ifdef __cplusplus
}
#endif
#endif
