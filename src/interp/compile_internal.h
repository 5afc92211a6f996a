/* What the files that compile a Graph to Code share. */
#pragma once

#include <assert.h>

#include "interp/code.h"
#include "interp/last_use.h"

typedef struct Compiler {
  const Graph *graph;
  Code *code;
  Arena *arena; /* the Code's */
  Arena scratch;
  Catch catch_point;
  uint32_t flags;
  Liveness life;
  VEC(Instruction) instructions;
  VEC(DebugPlace) places;
  VEC(IValue) constants;
  VEC(StateRead) state_reads;
  VEC(uint32_t) operands;
  VEC(Site) sites;
  VEC(CodeEntry) entries;
  const Code *baseline;        /* of the plan that is compiled */
  const StateValues *state;    /* the same; NULL: none */
  PtrMap inlined;              /* InlinedCall -> DebugInlined */
  Map instances;               /* their paths, in the Code's arena */
  Map calls;                   /* what such a call says -> DebugInlined */
  PtrMap function_names;       /* Function -> text in the Code's arena */
  uint32_t *register_of;       /* by Value.unique */
  uint32_t *hint_of;           /* by Value.unique: wanted register + 1 */
  VEC(uint8_t) register_state; /* REGISTER_... */
  VEC(const Value *) holders;  /* by register: the value that was defined into it last */
  uint32_t next_register;
  struct {
    uint32_t count, at; /* at: the last one's INST_STATE_GUARDS */
    const Block *block; /* that it stands in */
  } guard_runs;
  const Node *node; /* being compiled: for debug places */
} Compiler;
/* FREE: anyone may take it. HELD: a value is in it. RESERVED: kept for whoever has a hint to it. */
enum { REGISTER_FREE, REGISTER_HELD, REGISTER_RESERVED, REGISTER_HELD_RESERVED };

uint32_t emit(Compiler *c, Opcode op, uint8_t flags, uint32_t a, uint32_t b, uint32_t cc); /* its index */
uint32_t use(Compiler *c, const Node *node, uint32_t input);                               /* the register */
bool dies(Compiler *c, const Node *node, uint32_t input);                   /* last use; never of what is borrowed */
bool is_counted(const Type *type);                                          /* may hold references */
uint8_t moves(Compiler *c, const Node *node, uint32_t input, uint8_t flag); /* flag if it dies and is counted */
void kill_inputs(Compiler *c, const Node *node);                            /* frees registers of inputs that die */
uint32_t define(Compiler *c, Value *value);                                 /* gives it a register */
uint32_t define_output(Compiler *c, const Node *node,
                       uint32_t output);          /* also for a dead one: then drop_dead frees it again */
void drop_value(Compiler *c, const Value *value); /* its register is free afterwards */
void drop_dead(Compiler *c, const Node *node);
uint32_t take_register(Compiler *c);
void free_register(Compiler *c, uint32_t r);
Site *new_site(Compiler *c, const Node *node, uint32_t first_input,
               uint32_t *out_index); /* args from inputs; kills them */
void site_outputs(Compiler *c, Site *site, const Node *node);
_Noreturn void compile_out(Compiler *c, Status status);

/* Keeps a register for values that want it, whether one is in it or not; its state before. */
uint8_t reserve(Compiler *c, uint32_t r, bool held);
bool claim(Compiler *c, uint32_t r);              /* takes a reserved register in which nothing is */
bool is_temporary(const Compiler *c, uint32_t r); /* neither a constant's nor state */
bool is_dead(const Compiler *c, const Value *value);
bool takes_over(Compiler *c, const Node *node,
                const Value *output); /* a register that the loop's old value still holds */
void drop_list(Compiler *c, const ValueList *list);
uint32_t here(const Compiler *c);              /* the next instruction's index */
void patch(Compiler *c, uint32_t instruction); /* makes it jump here */
void compile_block(Compiler *c, const Block *block);

/* compile_control.c */
void compile_if(Compiler *c, const Node *node);
void compile_loop(Compiler *c, const Node *node);
bool fuses_with_next(Compiler *c, const Node *node); /* makes the condition of the branch after it, nothing else */
bool waits_for_loop(Compiler *c, const Node *node);  /* a comparison at the end of a while loop's body: placed by it */

/* compile_plan.c: what only graphs of the profiling executor have. */
void compile_profile(Compiler *c, const Node *node);
void compile_guard(Compiler *c, const Node *node);
void compile_marker(Compiler *c, const Node *node);

/* compile_direct.c: instructions of their own for frequent nodes; false: none fits. */
bool compile_direct(Compiler *c, const Node *node);
/* A comparison that can go into the branch on it: the operands swapped where needed. */
typedef struct FusedBranch {
  Opcode branch, loop;
  uint32_t left, right;
  bool two;
} FusedBranch;
bool fusable_branch(Compiler *c, const Node *comparison, FusedBranch *out);
IValue zero_of_type(Compiler *c, const Type *type, int depth); /* owned */
