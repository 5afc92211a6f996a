/* A region: an anchor, an operator whose engine takes along what comes before and after it, with those operators; or
 * several such anchors. In a graph it is a wick::region node with the operators as its Subgraph, which is what runs
 * where the engine declines. A Region is that Subgraph read once (interp/region_read.h), so that a call only puts its
 * inputs among the operators' arguments.
 *
 * How an operator becomes an anchor: its row's extras point to an Anchor, which says what the engine takes and runs it
 * (op/nn/norm_region.c is a small one). What is pointwise after an anchor needs no more than its row's formula. */
#pragma once

#include "call/call.h"
#include "compute/activation.h"

/* What the operators of a unit do, in this order; all but the anchor may be absent. */
typedef enum RegionRole {
  REGION_SCORES,     /* a product of matrices */
  REGION_SCALE,      /* a factor, or a divisor: a number */
  REGION_MASK,       /* the sum with a tensor */
  REGION_FILL,       /* masked_fill with a number */
  REGION_LAYER_NORM, /* the anchor's input is normalized rows */
  REGION_GATE,       /* the anchor's input is a tensor times a factor for each of its planes */
  REGION_ANCHOR,
  REGION_NORM,           /* batch_norm by stored statistics */
  REGION_FIRST_FUNCTION, /* one before sums */
  REGION_FIRST_SUM,      /* one before another */
  REGION_SUM,            /* with a tensor */
  REGION_FUNCTION,       /* a pointwise operator of one tensor and constants */
  REGION_RESULT,         /* a product with another tensor */
  REGION_ROLES
} RegionRole;

enum { REGION_MAX_ARGUMENTS = 192, REGION_MAX_UNITS = 32 };

typedef struct RegionStep {
  const struct Operator *op; /* NULL: the unit has none of the role */
  uint16_t first, count;     /* its arguments, of the region's */
  uint16_t through;          /* which of them is what the step before gives */
} RegionStep;
typedef struct RegionUnit {
  const struct Anchor *anchor;
  RegionStep steps[REGION_ROLES];
  Activation first_activation, activation; /* what the functions are to an engine */
} RegionUnit;

typedef struct RegionGiven {
  uint16_t argument, input;
} RegionGiven;
typedef struct Region {
  Str name; /* "aten::conv2d + batch_norm + relu", for people */
  const RegionUnit *units;
  const IValue *arguments; /* constants where they belong, None elsewhere; borrowed from the Subgraph */
  const RegionGiven *given;
  RegionStep join;  /* prim::VarConcat of the units' results, the only result then; op NULL: there is none */
  uint64_t weights; /* inputs that anchors alone read, which restore their memory: RowExtras.restores */
  uint16_t unit_count, argument_count, given_count, input_count;
  bool is_sequence; /* each unit reads the result of the one before */
} Region;

/* A call of a region. */
typedef struct RegionCall {
  Call *call;
  const Region *region;
  IValue arguments[REGION_MAX_ARGUMENTS];
} RegionCall;
/* Argument i of the step. */
static inline IValue region_argument(const RegionCall *r, const RegionStep *step, uint32_t i) {
  assert(i < step->count);
  return r->arguments[step->first + i];
}
/* The tensor that is given for it, or NULL: None and undefined are. */
static inline const Tensor *region_tensor_or_null(const RegionCall *r, const RegionStep *step, uint32_t i) {
  IValue v = region_argument(r, step, i);
  return v.tag == TAG_TENSOR && tensor_is_defined(v.tensor) ? v.tensor : NULL;
}
/* What the step, a sum, adds; None without one. */
static inline IValue region_term(const RegionCall *r, const RegionStep *sum) {
  return sum->op ? region_argument(r, sum, 1 - sum->through) : IVALUE_NONE;
}
/* The step as a call of its operator, to read arguments by: it is not to be run. */
static inline Call region_step_call(const RegionCall *r, const RegionStep *step) {
  return (Call){.exec = r->call->exec,
                .op = step->op,
                .inputs = r->arguments + step->first,
                .input_count = step->count,
                .outputs = r->call->outputs,
                .output_count = 1,
                .dying = r->call->dying};
}

/* What an anchor takes along, bits by RegionRole; and that */
enum {
  ANCHOR_JOINS = 1u << 16,   /* it does several anchors of one input at once, */
  ANCHOR_EXPANDS = 1u << 17, /* a 1x1 convolution and the depthwise one after it, */
  ANCHOR_PLACES = 1u << 18,  /* several whose results are joined along the channels, */
  ANCHOR_KNOWS = 1u << 19,   /* it knows more activations than limits and formulas; */
  ANCHOR_FLOAT32 = 1u << 20  /* what follows one that is known to give another dtype is for fusion groups. */
};
typedef struct Anchor {
  uint32_t takes, needs; /* needs: roles without which there is no region */
  /* Sets the call's results, or declines. All inputs are tensors without gradients that are wanted, or constants. */
  Status (*run)(RegionCall *r) MUST_CHECK;
  double (*flops)(const RegionCall *r); /* of a call that ran; NULL: what the rows of the anchors say */
} Anchor;

/* What a pointwise operator is to an engine, given its arguments: the first is the tensor, of float32, and nothing is
 * read of it. False: it can be no part of a region. A formula is made in the arena; NULL: it is only asked. */
bool region_activation(const struct Operator *op, uint32_t count, const IValue *arguments, bool knows, Arena *arena,
                       Activation *out);
