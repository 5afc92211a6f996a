/* OpProfile: how long each node of the Code that runs takes, by the shapes that it sees.
 *
 * A row is an instruction of one Code with the sizes, dtypes and strides of its tensors. Its time is the node's own:
 * what a body or a subgraph runs inside has rows of its own. Any number of calls, tasks and threads may record into one
 * profile. It costs nothing where Exec.profile is NULL but the test for that. */
#pragma once

#include "interp/code.h"

typedef struct OpProfileRow {
  Str name, overload; /* "aten::conv2d", ""; "prim::FusionGroup" */
  Str function;       /* of the Code */
  Str place;          /* "layer.py:12 < model.py:30": in the original source, with what called it; empty: unknown */
  Str module; /* "layer1.0": the innermost submodule whose method it was inlined from; empty: the module's own */
  Str places; /* the same with columns and all that called it: "layer.py:12:8 < model.py:30:4" */
  Str inputs, output; /* "float32[1,3,224,224], float32[64,3,7,7]": tensors, with their layout unless it is row-major */
  uint64_t count, ns, least_ns;
  uint64_t declines;   /* of these, done by the operator's body, whose operators have rows of their own */
  int declined;        /* why the last of them was: a Reason */
  uint64_t code;       /* number of the Code, which no other has */
  uint32_t pc;         /* of the instruction in it: in the order of the graph's nodes */
  bool is_fused;       /* a region or a fusion group: what it does not take is counted as declined, with a reason */
  double flops, bytes; /* of all calls together; bytes are those of all tensors read and written; flops 0: not known */
} OpProfileRow;

/* One run of a row. */
typedef struct OpProfileEvent {
  uint32_t row, thread;
  uint64_t start_ns, ns; /* since the profile was made; with all that ran inside */
} OpProfileEvent;

typedef struct OpProfile OpProfile;
OpProfile *op_profile_new(void); /* NULL: no memory */
void op_profile_free(OpProfile *profile);

/* Runs the instruction of an OP or a CALLABLE and records it in exec->profile. */
Status op_profile_run(const Code *code, const Instruction *pc, Call *call) MUST_CHECK;
/* The kernel of the operator that runs on this thread declined its call, for a Reason: its row says so. */
void op_profile_decline(Exec *exec, int reason);
/* A whole call of the API took so long. */
void op_profile_add_call(OpProfile *profile, uint64_t ns);

/* Rows by time, the greatest first: a table for people, with the time that no row has as "interpreter". */
Status op_profile_print_table(OpProfile *profile, StrBuf *out) MUST_CHECK;
/* {"calls": n, "ms": total, "rows": [{"op": ..., "ms": ...}, ...]} */
Status op_profile_print_json(OpProfile *profile, StrBuf *out) MUST_CHECK;
typedef enum OpProfileGroup { OP_PROFILE_BY_OPERATOR, OP_PROFILE_BY_MODULE, OP_PROFILE_BY_SOURCE } OpProfileGroup;
/* Sums of the rows that have the operator, the submodule or the line of the source in common, by time; lines of at most
 * 100 columns (op_profile_sums.c). */
Status op_profile_print_sums(OpProfile *profile, OpProfileGroup group, StrBuf *out) MUST_CHECK;
/* "function;place;operator nanoseconds", a line a row: flame graphs are drawn from it (op_profile_folded.c). */
Status op_profile_print_folded(OpProfile *profile, StrBuf *out) MUST_CHECK;
/* Every event, for chrome://tracing and Perfetto. */
Status op_profile_print_trace(OpProfile *profile, StrBuf *out) MUST_CHECK;
