/* The table: one row for each kind. */
#include "ir/node_kind.h"

#include "ir/node_form.h"

#define N FORM_MANY
#define HAS(name, tag) \
  { SYM_attr_##name, ATTR_##tag }

enum {
  SHARE = KIND_MAY_SHARE,
  FOLD = KIND_MAY_FOLD,
  SAVE = KIND_MAY_SAVE,
  LASTS = KIND_LASTS,
  TYPED = KIND_IS_TYPED,
  MODE = KIND_SETS_MODE,
  LINE = KIND_OWN_LINE,
  BARE = KIND_IS_BARE
};

/* prim's kinds with a form. The numbers: inputs, the fewest and the most; outputs, the same; blocks. Then effect,
 * aliasing, reading, flags, what else must hold, and the attributes that must be there. */
#define ROW(name, in, in_max, out, out_max, blocks, effect, aliasing, reading, flags, check, ...)                     \
  [SYM_prim_##name] = {true,    true,   EFFECT_##effect, ALIASES_##aliasing, READS_##reading, flags, in, in_max, out, \
                       out_max, blocks, check,           {__VA_ARGS__}}
/* Kinds of which nothing else is known, and operators, which fit a schema. */
#define KIND(space, name, effect, aliasing, reading, flags) \
  [SYM_##space##_##name] = {true, false, EFFECT_##effect, ALIASES_##aliasing, READS_##reading, flags}

/* clang-format off */
static const NodeKind kinds[SYMBOL_KNOWN_COUNT] = {
  /* constants */
  ROW(Constant,                  0, 0, 1, 1, 0, NONE,   OUTSIDE,   NONE,  SHARE | SAVE | LASTS | TYPED, form_constant),
  ROW(Uninitialized,             0, 0, 1, 1, 0, NONE,   NOTHING,   ALL,   SHARE | SAVE | LASTS,         NULL),

  /* control flow */
  KIND(prim, Param, NONE, BY_SCHEMA, ALL, LINE),
  KIND(prim, Return, NONE, BY_SCHEMA, ALL, SAVE),
  ROW(If,                        1, 1, 0, N, 2, NONE,   BRANCHES,  NONE,  SAVE,                         form_if),
  ROW(Loop,                      2, N, 0, N, 1, NONE,   ITERATES,  NONE,  SAVE,                         form_loop),
  ROW(fork,                      0, N, 1, 1, 0, RUNS,   FORKS,     ALL,   SAVE | LINE,                  form_subgraph,
      HAS(Subgraph, GRAPH)),
  KIND(aten, wait, RUNS, WAITS, ALL, SAVE),
  ROW(CallFunction,              1, N, 1, 1, 0, CALLS,  CALLS,     ALL,   SAVE,                         form_call),
  ROW(CallMethod,                1, N, 1, 1, 0, CALLS,  CALLS,     ALL,   SAVE,                         form_call_method,
      HAS(name, STRING)),
  ROW(Enter,                     1, 1, 1, 1, 0, RUNS,   BY_SCHEMA, ALL,   SAVE | LINE | MODE,           NULL),
  ROW(Exit,                      1, N, 0, 1, 0, RUNS,   BY_SCHEMA, ALL,   SAVE | LINE | MODE,           NULL),
  KIND(aten, set_grad_enabled, BY_ROW, BY_SCHEMA, ALL, SAVE | MODE),
  ROW(RaiseException,            1, 2, 0, 0, 0, LEAVES, NOTHING,   ALL,   SAVE,                         NULL),

  /* until a function is emitted */
  KIND(prim, Load, NONE, BY_SCHEMA, ALL, 0),
  KIND(prim, Store, NAMES, BY_SCHEMA, ALL, 0),
  KIND(prim, ReturnStmt, LEAVES, BY_SCHEMA, ALL, 0),
  KIND(prim, BreakStmt, LEAVES, BY_SCHEMA, ALL, 0),
  KIND(prim, ContinueStmt, LEAVES, BY_SCHEMA, ALL, 0),
  KIND(prim, LoopContinuation, LEAVES, BY_SCHEMA, ALL, 0),
  KIND(prim, Closure, NONE, BY_SCHEMA, ALL, 0),
  KIND(prim, With, NONE, BY_SCHEMA, ALL, 0),
  KIND(prim, ComprehensionScope, NONE, BY_SCHEMA, ALL, 0),
  KIND(prim, forkClosure, RUNS, BY_SCHEMA, ALL, 0),
  KIND(prim, Block, NONE, BY_SCHEMA, ALL, 0),
  KIND(prim, CallOptionalFunction, RUNS, BY_SCHEMA, ALL, 0),
  KIND(prim, rpc_async, RUNS, BY_SCHEMA, ALL, 0),
  ROW(EmptyListLiteral,          0, 0, 1, 1, 0, NONE,   NOTHING,   ALL,   SHARE,                        form_list),

  /* until a trace ends */
  KIND(prim, TracedAttr, NONE, OUTSIDE, NONE, 0),
  KIND(prim, TracedModuleForward, RUNS, BY_SCHEMA, ALL, 0),
  KIND(prim, TracedFork, RUNS, BY_SCHEMA, ALL, 0),

  /* objects */
  ROW(CreateObject,              0, 0, 1, 1, 0, NONE,   NOTHING,   ALL,   SAVE,                         form_create_object),
  ROW(GetAttr,                   1, 1, 1, 1, 0, NONE,   OUTSIDE,   FIRST, SHARE | SAVE | TYPED,         form_attribute,
      HAS(name, STRING)),
  ROW(SetAttr,                   2, 2, 0, 0, 0, WRITES, STORES,    NONE,  SAVE,                         form_attribute,
      HAS(name, STRING)),
  KIND(prim, HasAttr, BY_ROW, NOTHING, ALL, SHARE | FOLD | SAVE),
  KIND(prim, ModuleContainerIndex, BY_ROW, OUTSIDE, ALL, SHARE | FOLD | SAVE | LINE),
  ROW(EnumName,                  1, 1, 1, 1, 0, BY_ROW, BY_SCHEMA, ALL,   SHARE | FOLD | SAVE,          form_enum),
  ROW(EnumValue,                 1, 1, 1, 1, 0, BY_ROW, BY_SCHEMA, ALL,   SHARE | FOLD | SAVE,          form_enum),

  /* types */
  ROW(isinstance,                1, 1, 1, 1, 0, NONE,   NOTHING,   ALL,   SHARE | SAVE | LINE,          form_is_instance,
      HAS(types, TYPES)),
  ROW(annotate,                  1, 1, 1, 1, 0, NONE,   FIRST,     NONE,  SHARE | SAVE,                 form_annotate),
  ROW(unchecked_cast,            1, 1, 1, 1, 0, NONE,   FIRST,     NONE,  SHARE | SAVE,                 NULL),
  ROW(unchecked_unwrap_optional, 1, 1, 1, 1, 0, NONE,   FIRST,     ALL,   SHARE | SAVE,                 form_unwrap),
  ROW(tolist,                    1, N, 1, 1, 0, NONE,   NOTHING,   ALL,   SHARE | SAVE,                 NULL),

  /* containers */
  ROW(ListConstruct,             0, N, 1, 1, 0, NONE,   CONTAINS,  NONE,  SHARE | FOLD | SAVE,          form_list),
  ROW(ListUnpack,                1, 1, 0, N, 0, NONE,   OUTSIDE,   FIRST, SHARE | SAVE,                 form_list_unpack),
  ROW(DictConstruct,             0, N, 1, 1, 0, NONE,   CONTAINS,  NONE,  SHARE | SAVE,                 form_dict),
  ROW(TupleConstruct,            0, N, 1, 1, 0, NONE,   CONTAINS,  NONE,  SHARE | FOLD | SAVE,          form_tuple),
  ROW(TupleUnpack,               1, 1, 0, N, 0, NONE,   OUTSIDE,   NONE,  SHARE | FOLD | SAVE,          form_tuple_unpack),
  ROW(TupleIndex,                2, 2, 1, 1, 0, NONE,   OUTSIDE,   NONE,  SHARE | FOLD | SAVE,          form_tuple_index),
  ROW(TupleSlice,                1, 1, 1, 1, 0, NONE,   INPUTS,    NONE,  SHARE,                        form_tuple_slice,
      HAS(beg, INT), HAS(end, INT)),

  /* plans */
  ROW(profile,                   0, N, 0, 1, 0, NONE,   FIRST,     ALL,   0,                            form_pass_on),
  ROW(Guard,                     1, 1, 1, 1, 0, GUARDS, FIRST,     ALL,   TYPED,                        form_tensors),
  ROW(BailOut,                   1, N, 0, 1, 0, GUARDS, FIRST,     ALL,   TYPED,                        form_pass_on),
  ROW(TypeCheck,                 1, N, 2, N, 0, NONE,   BY_SCHEMA, ALL,   SHARE | TYPED,                form_type_check,
      HAS(types, TYPES)),
  ROW(GradOf,                    0, N, 0, N, 1, NONE,   BY_SCHEMA, ALL,   0,                            form_grad_of),
  ROW(DifferentiableGraph,       0, N, 0, N, 0, NONE,   BY_SCHEMA, ALL,   SHARE | TYPED | BARE,         form_group,
      HAS(Subgraph, GRAPH)),
  ROW(FusionGroup,               0, N, 0, N, 0, NONE,   BY_SCHEMA, ALL,   SHARE | TYPED,                form_group,
      HAS(Subgraph, GRAPH)),
  ROW(ConstantChunk,             1, 1, 0, N, 0, BY_ROW, FIRST,     ALL,   SHARE,                        form_chunk,
      HAS(chunks, INT), HAS(dim, INT)),
  ROW(BroadcastingChunk,         1, N, 0, N, 0, NONE,   BY_SCHEMA, ALL,   SHARE,                        form_chunk,
      HAS(chunks, INT), HAS(dim, INT)),
  ROW(ChunkSizes,                1, 1, 2, 2, 0, BY_ROW, BY_SCHEMA, ALL,   SHARE,                        form_chunk_sizes,
      HAS(chunks, INT), HAS(dim, INT)),
  ROW(FusedConcat,               1, N, 1, 1, 0, BY_ROW, BY_SCHEMA, ALL,   SHARE,                        form_tensors,
      HAS(dim, INT)),
};
/* clang-format on */

/* Operators, and what nobody knows. */
static const NodeKind other = {
    .effect = EFFECT_BY_ROW, .aliasing = ALIASES_BY_SCHEMA, .reading = READS_ALL, .flags = SHARE | FOLD | SAVE};

const NodeKind *node_kind(Symbol kind) {
  return kind < SYMBOL_KNOWN_COUNT && kinds[kind].has_row ? &kinds[kind] : &other;
}
