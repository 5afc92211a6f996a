/* Code: a Graph made linear for a register machine.
 *
 * A frame's registers are laid out: parameters, constants, temporaries. Constants are borrowed from the Code by copying
 * their bits at entry, and so is, after them, a plan's state from the Snapshot of the run; every other register owns
 * what it holds, or is dead and then uncounted, so that leaving a frame releases them all blindly. A source whose last
 * use it is carries a move flag: the instruction takes its value and leaves the register dead. */
#pragma once

#include "call/kind_form.h"
#include "call/operator.h"
#include "interp/interp.h"
#include "ivalue/scalar.h"

/* Of rows of scalars: x is r[b], y is r[c]. */
#define BINARY_INSTRUCTION(X, name, symbol, operand, result, raises, value) X(name, "OP", ABC, "r[a] = " #value)
#define UNARY_INSTRUCTION(X, name, symbol, operand, result, value) X(name, "OP", AB, "r[a] = " #value)
#define COMPARISON_INSTRUCTION(X, name, symbol, turned, operand, value) X(name, "OP", ABC, "r[a] = " #value)
#define BRANCH_INSTRUCTION(X, name, symbol, turned, operand, value) \
  X(JF_##name, "JF", COMPARE_BRANCH, "to a unless " #value)
#define LOOP_INSTRUCTION(X, name, symbol, turned, operand, value) \
  X(LOOP_WHILE_##name, "LOOP", COMPARE_BRANCH, "to a if " #value)

/* name, the documents' word, operands, meaning. a, b, c are the instruction's fields; r[] registers, args an operand
 * list. */
#define INSTRUCTIONS(X)                                                                       \
  /* ---- moving values ---- */                                                               \
  X(MOVE, "MOVE", AB, "r[a] = r[b], r[b] dies")                                               \
  X(LOAD, "LOAD", AB, "r[a] = r[b], retained")                                                \
  X(DROP, "DROPR", A, "r[a] dies")                                                            \
  /* ---- control ---- */                                                                     \
  X(JMP, "JMP", TARGET, "to a")                                                               \
  X(JF, "JF", BRANCH, "to a unless r[b]")                                                     \
  X(JT, "JF", BRANCH, "to a if r[b]")                                                         \
  SCALAR_INT_COMPARISONS(BRANCH_INSTRUCTION, X)                                               \
  SCALAR_FLOAT_COMPARISONS(BRANCH_INSTRUCTION, X)                                             \
  X(JF_NONE, "JF", BRANCH, "to a if r[b] is None")                                            \
  X(JF_NOT_NONE, "JF", BRANCH, "to a unless r[b] is None")                                    \
  X(LOOP_ENTER, "LOOP", LOOP, "r[b] = 0; to a unless 0 < r[c]")                               \
  X(LOOP_NEXT, "LOOP", LOOP, "r[b] += 1; to a if r[b] < r[c]")                                \
  X(LOOP_WHILE, "LOOP", BRANCH, "to a if r[b]")                                               \
  SCALAR_INT_COMPARISONS(LOOP_INSTRUCTION, X)                                                 \
  X(RET, "RET", ARGS, "the caller's outputs = args")                                          \
  /* ---- scalars: ivalue/scalar.h ---- */                                                    \
  SCALAR_ARITHMETIC(BINARY_INSTRUCTION, X)                                                    \
  SCALAR_INT_COMPARISONS(COMPARISON_INSTRUCTION, X)                                           \
  SCALAR_FLOAT_COMPARISONS(COMPARISON_INSTRUCTION, X)                                         \
  SCALAR_UNARY(UNARY_INSTRUCTION, X)                                                          \
  X(IS_NONE, "OP", AB, "r[a] = r[b] is None")                                                 \
  X(IS_NOT_NONE, "OP", AB, "r[a] = r[b] is not None")                                         \
  X(IS, "OP", ABC, "r[a] = r[b] is r[c]")                                                     \
  X(EQ_STR, "OP", ABC, "r[a] = r[b] == r[c]")                                                 \
  X(NE_STR, "OP", ABC, "r[a] = r[b] != r[c]")                                                 \
  /* ---- lists ---- */                                                                       \
  X(LIST_LEN, "OP", AB, "r[a] = len(r[b])")                                                   \
  X(LIST_GET_INT, "OP", ABC, "r[a] = r[b][r[c]]")                                             \
  X(LIST_GET_FLOAT, "OP", ABC, "r[a] = r[b][r[c]]")                                           \
  X(LIST_GET_BOOL, "OP", ABC, "r[a] = r[b][r[c]]")                                            \
  X(LIST_GET, "OP", ABC, "r[a] = r[b][r[c]], retained")                                       \
  X(LIST_SET_INT, "OP", ABC, "r[a][r[b]] = r[c]")                                             \
  X(LIST_SET_FLOAT, "OP", ABC, "r[a][r[b]] = r[c]")                                           \
  X(LIST_SET_BOOL, "OP", ABC, "r[a][r[b]] = r[c]")                                            \
  X(LIST_SET, "OP", ABC, "r[a][r[b]] = r[c]")                                                 \
  X(LIST_APPEND_INT, "OP", BC, "r[b].append(r[c])")                                           \
  X(LIST_APPEND_FLOAT, "OP", BC, "r[b].append(r[c])")                                         \
  X(LIST_APPEND, "OP", BC, "r[b].append(r[c])")                                               \
  X(LIST_CONSTRUCT, "OP", MAKE, "r[a] = [args] of type")                                      \
  X(LIST_UNPACK, "OP", SPREAD, "outputs = the elements of r[b]; as many as outputs")          \
  /* ---- dicts, tuples, objects ---- */                                                      \
  X(DICT_GET, "OP", ABC, "r[a] = r[b][r[c]]; KeyError")                                       \
  X(DICT_SET, "OP", ABC, "r[a][r[b]] = r[c]")                                                 \
  X(DICT_HAS, "OP", ABC, "r[a] = r[c] in r[b]")                                               \
  X(DICT_CONSTRUCT, "OP", MAKE, "r[a] = {args in pairs}")                                     \
  X(TUPLE_CONSTRUCT, "OP", MAKE, "r[a] = (args), named by the type")                          \
  X(TUPLE_UNPACK, "OP", SPREAD, "outputs = the elements of r[b]")                             \
  X(TUPLE_GET, "OP", ABN, "r[a] = element c of r[b]")                                         \
  X(TUPLE_INDEX, "OP", ABC, "r[a] = r[b][r[c]]")                                              \
  X(TUPLE_SLICE, "OP", SITE_AB, "r[a] = r[b][begin:end]")                                     \
  X(GET_ATTR, "GET_ATTR", ABN, "r[a] = slot c of r[b]")                                       \
  X(SET_ATTR, "SET_ATTR", NBC, "slot a of r[b] = r[c]")                                       \
  X(CREATE_OBJECT, "OP", MAKE, "r[a] = a new object of the type")                             \
  X(CAST, "OP", SITE_AB, "r[a] = r[b]; an error unless it is of the type")                    \
  X(UNWRAP, "OP", AB, "r[a] = r[b]; an error if it is None")                                  \
  X(IS_INSTANCE, "OP", SITE_AB, "r[a] = whether r[b] is of one of the types")                 \
  X(ENUM_NAME, "OP", AB, "r[a] = the name of r[b]")                                           \
  X(ENUM_VALUE, "OP", AB, "r[a] = the value of r[b]")                                         \
  X(TO_LIST, "OP", SITE_AB, "r[a] = the elements of tensor r[b] as nested lists of the type") \
  X(CONTAINER_INDEX, "INTERFACE_CALL", ABC, "r[a] = submodule r[c] of r[b]")                  \
  /* ---- calls; a is a site ---- */                                                          \
  X(OP, "OP", SITE, "outputs = operator(args)")                                               \
  X(CALLABLE, "OP", SITE, "outputs = callable(args)")                                         \
  X(CALL, "CALL", SITE, "output = function(args)")                                            \
  X(INTERFACE_CALL, "INTERFACE_CALL", SITE, "output = args[0].method(args), cached by class") \
  X(ENTER, "CALL", SITE, "output = args[0].__enter__()")                                      \
  X(EXIT, "CALL", SITE, "args[0].__exit__(None, None, None)")                                 \
  X(FORK, "OP", SITE, "output = a Future of code(args)")                                      \
  X(WAIT, "WAIT", AB, "r[a] = the value of Future r[b]; suspends until it is there")          \
  X(RAISE, "OP", SITE, "raises args[0], of class args[1]")                                    \
  X(UNSUPPORTED, "OP", SITE, "an error: there is no such operator")                           \
  /* ---- of the profiling executor; c is a site with the live values as args ---- */         \
  X(PROFILE, "OP", ABN, "r[a] = r[b], observed in slot c of the run")                         \
  X(GUARD, "GUARD", SITE_AB, "r[a] = r[b] if it is of the type; else the baseline goes on")   \
  X(STATE_GUARDS, "GUARD", TARGET, "to a if all guards up to there hold, or held: run b of the Snapshot's")

typedef enum Opcode {
#define X(name, word, form, meaning) INST_##name,
  INSTRUCTIONS(X)
#undef X
      INST_COUNT
} Opcode;

enum { MOVES_B = 1, MOVES_C = 2, MOVES_A = 4 }; /* Instruction.flags: that source dies here and is counted */

typedef struct Instruction {
  uint16_t op;
  uint8_t flags;
  uint32_t a, b, c;
} Instruction;

/* An operand of a list: a register, with OPERAND_MOVE when it dies here. */
#define OPERAND_MOVE (1u << 31)
#define OPERAND_REGISTER(o) ((o) & ~OPERAND_MOVE)
#define NO_REGISTER UINT32_MAX

/* What an instruction needs beyond three registers. */
typedef struct Site {
  uint32_t arg_begin, arg_count;       /* in Code.operands */
  uint32_t output_begin, output_count; /* in Code.operands: registers; NO_REGISTER: not wanted */
  uint64_t dying;                      /* of the first 64 args: dies here, and is no other arg too */
  const Operator *op;
  KindForm *operation; /* a factory's, or NULL */
  void *state;
  void (*state_free)(void *state);
  Function *function;
  _Atomic(Function *) cached; /* interface calls: the last class's method (Function.class_type says which) */
  Str name;                   /* method, operator that is missing, region; mostly empty */
  Callable *callable;
  struct Code *code; /* of a fork */
  const Type *type;
  const Type *const *types;
  uint32_t type_count;
  int64_t begin, end; /* of slices */
  uint32_t entry;     /* of a guard: in the baseline's entries */
} Site;

/* Where baseline Code can be entered: the place of a prim::BailOut marker and, for each of its inputs, the register
 * that the input lives in there; no other register is needed from there on. */
typedef struct CodeEntry {
  uint32_t pc;        /* NO_REGISTER: there is no marker of this index */
  uint32_t count;     /* of inputs */
  uint32_t registers; /* in Code.operands */
} CodeEntry;
/* Where an instruction comes from; calls that were inlined innermost first. */
typedef struct DebugInlined {
  Str name;          /* of the called function */
  Str instance;      /* "layer1.0": of a method, the path of its object from the module; empty: not known, none */
  SourceRange range; /* of the call */
  const struct DebugInlined *caller;
} DebugInlined;
typedef struct DebugPlace {
  SourceRange range;
  const DebugInlined *inlined;
} DebugPlace;

/* An attribute that is read before the Code runs. */
typedef struct StateRead {
  uint32_t object; /* an earlier read, plus one; 0: the first argument */
  uint32_t slot;
} StateRead;

struct Code {
  Arena arena;
  Str name;
  uint64_t serial; /* no other Code of the process has it */
  const Instruction *instructions;
  const DebugPlace *places; /* one for each instruction */
  uint32_t instruction_count;
  uint32_t parameter_count, borrowed_count, register_count, output_count;
  uint32_t constant_count, state_count; /* the borrowed registers: first those, then these */
  const IValue *constants;              /* owned */
  const StateRead *state;
  const uint32_t *operands;
  Site *sites;
  uint32_t site_count;
  uint32_t window;          /* most values that one call site gathers and receives */
  uint32_t enter_depth;     /* no more objects than this are entered (`with`) at once */
  const CodeEntry *entries; /* of baseline Code: by the markers' index */
  uint32_t entry_count;
  uint32_t effects_from;       /* of a plan's Code: no instruction before does anything that can be noticed outside */
  const struct Code *baseline; /* of a plan's Code with guards: borrowed */
  uint32_t profile_count;      /* slots that a ProfileRun of this Code needs */
};

/* For listings: every value gets a register of its own, in order of definition, as the documents number them. */
enum { CODE_NO_REUSE = 1, CODE_IS_BASELINE = 2, CODE_GOES_FIRST = 4 /* the graph is sealed and outlives the Code */ };
/* baseline, state: NULL but for plans. */
Status code_compile_with(const Graph *graph, Str name, uint32_t flags, const Code *baseline, const StateValues *state,
                         Code **out) MUST_CHECK;
