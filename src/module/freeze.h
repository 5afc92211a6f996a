/* torch.jit.freeze: a module whose parameters, buffers and other attributes are constants of its methods. */
#pragma once

#include "call/exec.h"
#include "module/module.h"

typedef struct FreezeOptions {
  uint32_t preserved_count;
  const Str *preserved;
  bool exact;       /* nothing that rounds otherwise */
  bool in_training; /* a module that trains, too */
} FreezeOptions;

/* A new module with the method forward and the preserved ones. Attributes stay that are preserved, set or written into
 * by a method, or that can't be constants. The module must be in evaluation mode, or `in_training` given. */
Status module_freeze(const Module *module, const FreezeOptions *options, Exec *exec, Module **out) MUST_CHECK;
