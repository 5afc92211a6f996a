/* Calls of the registry's operators, by name and overload. */
#pragma once

#include "call/operator.h"
#include "ir/match.h"
#include "serial/pt2/builder.h"

typedef struct Pt2OpName {
  Str name, overload;
} Pt2OpName;
/* "torch.ops.aten.add.Tensor": aten::add, Tensor. False: it is not of that form. */
bool pt2_split_name(const Pt2Builder *b, Str target, Pt2OpName *out);

/* A call of an operator that is there: what it is given and what it gives, the first of each. */
typedef struct Pt2OpCall {
  Pt2OpName name;
  const Json *inputs, *outputs;
} Pt2OpCall;
void pt2_build_call(Pt2Builder *b, const Pt2OpCall *of);

/* The same with arguments that were made already. */
typedef struct Pt2Results {
  uint32_t count;
  Value *const *values;
} Pt2Results;
Pt2Results pt2_call_operator(Pt2Builder *b, const Operator *op, const CallArguments *call);
