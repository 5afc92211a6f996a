/* Lowering: a group with the dtypes of one call -> kernels, one for each set of stores of equal sizes. Every step's
 * formula is lowered as the operator alone would be, by the same promotion and shape function; between steps values are
 * rounded to their dtype. So the kernel computes the operators' bits. */
#pragma once

#include "fuse/compiled.h"
#include "fuse/group.h"

enum { FUSE_ARGUMENT_NUMBER = 0x8000 };

typedef struct FuseKernel {
  KernelIr *kernel;
  void *interpreted; /* by fuse_backend_tile */
  FuseCompiledList compiled;
  uint16_t argument_count, output_count;
  uint16_t arguments[KERNEL_MAX_ARGUMENTS]; /* values, or FUSE_ARGUMENT_NUMBER | input */
  uint16_t outputs[KERNEL_MAX_OUTPUTS];     /* stores */
} FuseKernel;

struct FuseEntry {
  FuseEntry *next;
  FuseRefusal refusal;
  uint32_t key_length, kernel_count;
  uint8_t *key;
  uint8_t *dtypes; /* of every store */
  FuseKernel *kernels;
};

/* What a run knows of its inputs: values[i] is a tensor's look (pieces and results without data); NULL where value i
 * is a number or not known. classes[i]: store i's kernel. */
typedef struct FuseCall {
  Exec *exec;
  const FuseGroup *group;
  const IValue *inputs;
  const Tensor **values;
  const uint8_t *classes;
} FuseCall;

/* An entry without a key; one with `refusal` set where the operators can't be lowered. Tensors' data is not looked at,
 * their sizes only by whether there are dimensions. */
Status fuse_lower(const FuseCall *call, FuseEntry **out) MUST_CHECK;
void fuse_entry_free(FuseEntry *entry);
/* The operator's Call over values and numbers; `inputs` has room for the step's operands. */
void fuse_step_call(const FuseCall *call, const FuseStep *step, IValue *inputs, Call *out);
/* What the step's result looks like; errors are the operator's. */
Status fuse_step_shape(Call *call, const FuseStep *step, TensorSpec *spec) MUST_CHECK;
