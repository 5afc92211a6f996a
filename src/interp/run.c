/* The interpreter's loop: instructions by computed goto, calls by pushing frames, waiting by leaving the loop. Nothing
 * here allocates, locks or looks up per instruction, except where a value itself is made or shared. */
#include <assert.h>

#include "base/work_limit.h"
#include "interp/dict_string.h"
#include "interp/op_profile.h"
#include "interp/profile.h"
#include "interp/task.h"
#include "ivalue/lock.h"

/* Back edges and calls between two looks at the budget, deadline and cancel flag. */
enum { TICKS = 1024 };

static int64_t take_ticks(const Exec *exec) {
  int64_t left = exec->work.budget ? atomic_load_explicit(&exec->work.budget->steps_left, memory_order_relaxed) : TICKS;
  return left < TICKS ? left < 1 ? 1 : left : TICKS;
}

static void use_up(const Exec *exec, int64_t ticks) {
  if (exec->work.budget && atomic_load_explicit(&exec->work.budget->steps_left, memory_order_relaxed) != INT64_MAX)
    atomic_fetch_sub_explicit(&exec->work.budget->steps_left, ticks, memory_order_relaxed);
}

static Status poll(const Exec *exec, int64_t used) {
  use_up(exec, used);
  return work_poll(&exec->work);
}

/* ---- pieces too long for the loop ---- */

static inline bool list_position(const List *l, int64_t index, size_t *out) {
  uint64_t position = (uint64_t)(index < 0 ? index + (int64_t)l->length : index);
  *out = position;
  return position < l->length;
}
static bool locked_position(const List *l, int64_t index, size_t *out) {
  bool entered = LIST_ENTER(l);
  bool fits = list_position(l, index, out);
  CONTAINER_LEAVE(entered, l);
  return fits;
}

static Status index_error(void) {
  return status_exception("IndexError", "list index out of range");
}

static Status get_from_list(const List *l, int64_t index, IValue *out) {
  bool entered = LIST_ENTER(l); /* check and read under one lock */
  size_t i;
  bool fits = list_position(l, index, &i);
  if (fits) {
    switch (l->kind) {
      case LIST_INTS:
        *out = ivalue_int(l->ints[i]);
        break;
      case LIST_FLOATS:
        *out = ivalue_float(l->floats[i]);
        break;
      case LIST_BOOLS:
        *out = ivalue_bool(l->bools[i]);
        break;
      default:
        *out = ivalue_retain(l->values[i]);
    }
  }
  CONTAINER_LEAVE(entered, l);
  return fits ? OK : index_error();
}

/* Takes over value, also on failure. */
static Status set_in_list(List *l, int64_t index, IValue value) {
  size_t i;
  if (!locked_position(l, index, &i)) {
    ivalue_release(value);
    return index_error();
  }
  list_set(l, i, value);
  return OK;
}

/* ---- the loop ---- */

static RunState run(Task *task) {
  static const void *const labels[] = {
#define X(name, word, form, meaning) &&do_##name,
      INSTRUCTIONS(X)
#undef X
  };
  Exec *exec = task->exec;
  struct Task *outer_task = exec->task;
  exec->task = task;
  Frame *frame = task->top;
  const Code *code;
  const Instruction *pc;
  IValue *r;
  Status status = OK;
  int64_t ticks_given = take_ticks(exec), ticks = ticks_given;

#define ENTER_FRAME() (frame = task->top, code = frame->code, pc = frame->pc, r = frame->registers)
#define GO() goto *labels[pc->op]
#define NEXT() \
  do {         \
    pc++;      \
    GO();      \
  } while (0)
#define JUMP(target)                    \
  do {                                  \
    pc = code->instructions + (target); \
    GO();                               \
  } while (0)
#define A (r[pc->a])
#define B (r[pc->b])
#define C (r[pc->c])
#define CHECK(expression)                               \
  do {                                                  \
    status = (expression);                              \
    if (__builtin_expect(status != OK, 0)) goto failed; \
  } while (0)
/* The value of a source that may die here, owned by the caller afterwards. */
#define TAKE(source, flag)     \
  ({                           \
    IValue *take_ = &(source); \
    IValue taken_ = *take_;    \
    if (pc->flags & (flag))    \
      take_->tag = TAG_NONE;   \
    else                       \
      ivalue_retain(taken_);   \
    taken_;                    \
  })
/* Releases a source that dies here. */
#define LET_GO(source, flag)     \
  do {                           \
    if (pc->flags & (flag)) {    \
      IValue *gone_ = &(source); \
      IValue old_ = *gone_;      \
      gone_->tag = TAG_NONE;     \
      ivalue_release(old_);      \
    }                            \
  } while (0)
#define TICK()                                \
  do {                                        \
    if (__builtin_expect(--ticks <= 0, 0)) {  \
      CHECK(poll(exec, ticks_given));         \
      ticks = ticks_given = take_ticks(exec); \
    }                                         \
  } while (0)
#define OPERANDS(operand) SCALAR_C_##operand x = SCALAR_OF_##operand(B), y = SCALAR_OF_##operand(C)
#define BINARY(X, NAME, symbol, operand, result, raises, value)                       \
  do_##NAME : {                                                                       \
    OPERANDS(operand);                                                                \
    if (__builtin_expect(SCALAR_RAISES_##raises(y), 0)) CHECK(SCALAR_ERROR_##raises); \
    A = SCALAR_MAKE_##result(value);                                                  \
    NEXT();                                                                           \
  }
#define UNARY(X, NAME, symbol, operand, result, value) \
  do_##NAME : {                                        \
    SCALAR_C_##operand x = SCALAR_OF_##operand(B);     \
    A = SCALAR_MAKE_##result(value);                   \
    NEXT();                                            \
  }
#define COMPARISON(X, NAME, symbol, turned, operand, value) \
  do_##NAME : {                                             \
    OPERANDS(operand);                                      \
    A = ivalue_bool(value);                                 \
    NEXT();                                                 \
  }
#define COMPARE_AND_BRANCH(X, NAME, symbol, turned, operand, value) \
  do_JF_##NAME : {                                                  \
    OPERANDS(operand);                                              \
    if (value) NEXT();                                              \
    JUMP(pc->a);                                                    \
  }
#define COMPARE_AND_LOOP(X, NAME, symbol, turned, operand, value) \
  do_LOOP_WHILE_##NAME : {                                        \
    TICK();                                                       \
    OPERANDS(operand);                                            \
    if (value) JUMP(pc->a);                                       \
    NEXT();                                                       \
  }
#define BRANCH(NAME, test)      \
  do_##NAME : if (test) NEXT(); \
  JUMP(pc->a);

  ENTER_FRAME();
  CHECK(task->interrupted);
  CHECK(work_check(&exec->work));
  GO();

do_MOVE : {
  IValue v = B;
  B.tag = TAG_NONE;
  A = v;
  NEXT();
}
do_LOAD : {
  A = ivalue_retain(B);
  NEXT();
}
do_DROP : {
  IValue v = A;
  A.tag = TAG_NONE;
  ivalue_release(v);
  NEXT();
}

do_JMP:
  JUMP(pc->a);
  BRANCH(JF, B.b)
  BRANCH(JT, !B.b)
  SCALAR_INT_COMPARISONS(COMPARE_AND_BRANCH, )
  SCALAR_FLOAT_COMPARISONS(COMPARE_AND_BRANCH, )
  BRANCH(JF_NONE, B.tag != TAG_NONE)
  BRANCH(JF_NOT_NONE, B.tag == TAG_NONE)

do_LOOP_ENTER:
  B = ivalue_int(0);
  if (C.i > 0) NEXT();
  JUMP(pc->a);
do_LOOP_NEXT:
  TICK();
  if (++B.i < C.i) JUMP(pc->a);
  NEXT();
do_LOOP_WHILE:
  TICK();
  if (B.b) JUMP(pc->a);
  NEXT();
  SCALAR_INT_COMPARISONS(COMPARE_AND_LOOP, )

do_RET : {
  const uint32_t *o = code->operands + pc->b;
  uint32_t count = pc->c;
  Frame *caller = frame->caller;
  if (__builtin_expect(caller && count == 1, 1)) {
    IValue *source = &r[OPERAND_REGISTER(*o)], v = *source;
    if (*o & OPERAND_MOVE)
      source->tag = TAG_NONE;
    else
      ivalue_retain(v);
    uint32_t output = frame->output;
    task_pop(task);
    ENTER_FRAME();
    if (output == NO_REGISTER)
      ivalue_release(v);
    else
      r[output] = v;
    NEXT();
  }
  IValue one[1], *results = one;
  if (count > 1) {
    results = mem_alloc(count * sizeof *results);
    if (!results) CHECK(status_out_of_memory());
  }
  for (uint32_t i = 0; i < count; i++) {
    IValue *source = &r[OPERAND_REGISTER(o[i])];
    results[i] = *source;
    if (o[i] & OPERAND_MOVE)
      source->tag = TAG_NONE;
    else
      ivalue_retain(results[i]);
  }
  if (!caller) {
    task_pop(task);
    status = transfer_results(task, results, count);
    if (results != one) mem_free(results);
    goto done;
  }
  uint32_t output = frame->output;
  IValue packed = IVALUE_NONE;
  if (count) {
    Tuple *tuple;
    status = tuple_new(count, NULL, &tuple);
    if (!status) {
      memcpy(tuple->values, results, count * sizeof *results);
      packed = ivalue_tuple(tuple);
    } else {
      for (uint32_t i = 0; i < count; i++) ivalue_release(results[i]);
    }
  }
  if (results != one) mem_free(results);
  if (status) goto failed;
  task_pop(task);
  ENTER_FRAME();
  if (output == NO_REGISTER)
    ivalue_release(packed);
  else
    r[output] = packed;
  NEXT();
}

  SCALAR_ARITHMETIC(BINARY, )
  SCALAR_INT_COMPARISONS(COMPARISON, )
  SCALAR_FLOAT_COMPARISONS(COMPARISON, )
  SCALAR_UNARY(UNARY, )
do_IS_NONE : {
  bool none = B.tag == TAG_NONE;
  LET_GO(B, MOVES_B);
  A = ivalue_bool(none);
  NEXT();
}
do_IS_NOT_NONE : {
  bool none = B.tag == TAG_NONE;
  LET_GO(B, MOVES_B);
  A = ivalue_bool(!none);
  NEXT();
}
do_IS : {
  bool same = ivalue_is(B, C);
  LET_GO(B, MOVES_B);
  LET_GO(C, MOVES_C);
  A = ivalue_bool(same);
  NEXT();
}
do_EQ_STR:
do_NE_STR : {
  bool same = B.string == C.string ||
              (B.string->length == C.string->length && !memcmp(B.string->data, C.string->data, B.string->length));
  bool want = pc->op == INST_EQ_STR;
  LET_GO(B, MOVES_B);
  LET_GO(C, MOVES_C);
  A = ivalue_bool(same == want);
  NEXT();
}

do_LIST_LEN : {
  int64_t length = (int64_t)list_length(B.list);
  LET_GO(B, MOVES_B);
  A = ivalue_int(length);
  NEXT();
}
#define LIST_GET(NAME, KIND, field, make)                                                        \
  do_##NAME : {                                                                                  \
    const List *l = B.list;                                                                      \
    size_t i;                                                                                    \
    IValue v;                                                                                    \
    if (__builtin_expect(l->kind == KIND && !list_is_shared(l) && list_position(l, C.i, &i), 1)) \
      v = make(l->field[i]);                                                                     \
    else                                                                                         \
      CHECK(get_from_list(l, C.i, &v));                                                          \
    LET_GO(B, MOVES_B);                                                                          \
    A = v;                                                                                       \
    NEXT();                                                                                      \
  }
  LIST_GET(LIST_GET_INT, LIST_INTS, ints, ivalue_int)
  LIST_GET(LIST_GET_FLOAT, LIST_FLOATS, floats, ivalue_float)
  LIST_GET(LIST_GET_BOOL, LIST_BOOLS, bools, ivalue_bool)
  LIST_GET(LIST_GET, LIST_VALUES, values, ivalue_retain)
#define LIST_SET(NAME, KIND, field, payload)                                                     \
  do_##NAME : {                                                                                  \
    List *l = A.list;                                                                            \
    size_t i;                                                                                    \
    if (__builtin_expect(l->kind == KIND && !list_is_shared(l) && list_position(l, B.i, &i), 1)) \
      l->field[i] = C.payload;                                                                   \
    else                                                                                         \
      CHECK(set_in_list(l, B.i, C));                                                             \
    LET_GO(A, MOVES_A);                                                                          \
    NEXT();                                                                                      \
  }
  LIST_SET(LIST_SET_INT, LIST_INTS, ints, i)
  LIST_SET(LIST_SET_FLOAT, LIST_FLOATS, floats, f)
  LIST_SET(LIST_SET_BOOL, LIST_BOOLS, bools, b)
do_LIST_SET : {
  CHECK(set_in_list(A.list, B.i, TAKE(C, MOVES_C)));
  LET_GO(A, MOVES_A);
  NEXT();
}
#define LIST_APPEND(NAME, KIND, field, payload)                                                \
  do_##NAME : {                                                                                \
    List *l = B.list;                                                                          \
    if (__builtin_expect(l->kind == KIND && !list_is_shared(l) && l->length < l->capacity, 1)) \
      l->field[l->length++] = C.payload;                                                       \
    else                                                                                       \
      CHECK(list_append(l, C));                                                                \
    LET_GO(B, MOVES_B);                                                                        \
    NEXT();                                                                                    \
  }
  LIST_APPEND(LIST_APPEND_INT, LIST_INTS, ints, i)
  LIST_APPEND(LIST_APPEND_FLOAT, LIST_FLOATS, floats, f)
do_LIST_APPEND : {
  IValue v = TAKE(C, MOVES_C);
  CHECK(list_append(B.list, v));
  LET_GO(B, MOVES_B);
  NEXT();
}

/* Gathers a site's arguments into the frame's window: bits only; what dies leaves its register. */
#define GATHER(site)                                             \
  const uint32_t *operands = code->operands + (site)->arg_begin; \
  uint32_t arg_count = (site)->arg_count;                        \
  IValue *window = frame->window;                                \
  for (uint32_t i = 0; i < arg_count; i++) {                     \
    IValue *source = &r[OPERAND_REGISTER(operands[i])];          \
    window[i] = *source;                                         \
    if (operands[i] & OPERAND_MOVE) source->tag = TAG_NONE;      \
  }
#define SCATTER_DEAD()                     \
  for (uint32_t i = 0; i < arg_count; i++) \
    if (operands[i] & OPERAND_MOVE) ivalue_release(window[i])
#define STORE_OUTPUTS(site, values)                         \
  for (uint32_t i = 0; i < (site)->output_count; i++) {     \
    uint32_t to = code->operands[(site)->output_begin + i]; \
    if (to == NO_REGISTER)                                  \
      ivalue_release((values)[i]);                          \
    else                                                    \
      r[to] = (values)[i];                                  \
  }
#define MAKE(expression)                    \
  do {                                      \
    const Site *site = &code->sites[pc->b]; \
    GATHER(site)                            \
    IValue made = IVALUE_NONE;              \
    status = (expression);                  \
    SCATTER_DEAD();                         \
    if (status) goto failed;                \
    A = made;                               \
    NEXT();                                 \
  } while (0)

do_LIST_CONSTRUCT:
  MAKE(value_list_construct(site->type, window, arg_count, &made));
do_DICT_CONSTRUCT:
  MAKE(value_dict_construct(site->type, window, arg_count, &made));
do_TUPLE_CONSTRUCT : {
  const Site *site = &code->sites[pc->b];
  Tuple *tuple;
  CHECK(tuple_new(site->arg_count, site->type, &tuple));
  const uint32_t *operands = code->operands + site->arg_begin;
  for (uint32_t i = 0; i < site->arg_count; i++) {
    IValue *source = &r[OPERAND_REGISTER(operands[i])];
    tuple->values[i] = ivalue_retain(*source);
  }
  for (uint32_t i = 0; i < site->arg_count; i++)
    if (operands[i] & OPERAND_MOVE) {
      IValue *source = &r[OPERAND_REGISTER(operands[i])], old = *source;
      source->tag = TAG_NONE;
      ivalue_release(old);
    }
  A = ivalue_tuple(tuple);
  NEXT();
}
do_CREATE_OBJECT : {
  Object *object;
  CHECK(object_new(code->sites[pc->b].type->class_type, &object));
  A = ivalue_object(object);
  NEXT();
}
do_LIST_UNPACK:
do_TUPLE_UNPACK : {
  const Site *site = &code->sites[pc->a];
  GATHER(site)
  IValue *outputs = window + arg_count;
  if (pc->op == INST_LIST_UNPACK) {
    status = value_unpack_list(window[0].list, site->output_count, outputs);
  } else if (window[0].tag == TAG_TUPLE && window[0].tuple->length == site->output_count) {
    for (uint32_t i = 0; i < site->output_count; i++) outputs[i] = ivalue_retain(window[0].tuple->values[i]);
  } else {
    status = status_new(ERROR_RUNTIME, "a tuple of another length than expected");
  }
  SCATTER_DEAD();
  if (status) goto failed;
  STORE_OUTPUTS(site, outputs);
  NEXT();
}
do_DICT_GET : {
  IValue v;
  if (dict_is_simple(B.dict, C)) {
    DictEntry *entry = dict_find_string(B.dict, C.string);
    if (!entry) CHECK(value_key_error(C));
    v = ivalue_retain(entry->value);
  } else {
    bool found;
    CHECK(dict_get(B.dict, C, &v, &found));
    if (!found) CHECK(value_key_error(C));
  }
  LET_GO(B, MOVES_B);
  LET_GO(C, MOVES_C);
  A = v;
  NEXT();
}
do_DICT_SET : {
  DictEntry *entry = dict_is_simple(A.dict, B) ? dict_find_string(A.dict, B.string) : NULL;
  if (entry) {
    IValue old = entry->value;
    entry->value = TAKE(C, MOVES_C);
    ivalue_release(old);
    LET_GO(B, MOVES_B);
    LET_GO(A, MOVES_A);
    NEXT();
  }
  IValue key = TAKE(B, MOVES_B), value = TAKE(C, MOVES_C);
  CHECK(dict_set(A.dict, key, value));
  LET_GO(A, MOVES_A);
  NEXT();
}
do_DICT_HAS : {
  bool has;
  if (dict_is_simple(B.dict, C))
    has = dict_find_string(B.dict, C.string) != NULL;
  else
    CHECK(dict_get(B.dict, C, NULL, &has));
  LET_GO(B, MOVES_B);
  LET_GO(C, MOVES_C);
  A = ivalue_bool(has);
  NEXT();
}
do_TUPLE_GET : {
  if (__builtin_expect(B.tag != TAG_TUPLE || pc->c >= B.tuple->length, 0))
    CHECK(status_exception("IndexError", "tuple index out of range"));
  IValue v = ivalue_retain(B.tuple->values[pc->c]);
  LET_GO(B, MOVES_B);
  A = v;
  NEXT();
}
do_TUPLE_INDEX : {
  int64_t i = C.i, n = B.tag == TAG_TUPLE ? B.tuple->length : 0;
  if (i < 0) i += n;
  if (i < 0 || i >= n) CHECK(status_exception("IndexError", "tuple index out of range"));
  IValue v = ivalue_retain(B.tuple->values[i]);
  LET_GO(B, MOVES_B);
  A = v;
  NEXT();
}
do_TUPLE_SLICE : {
  const Site *site = &code->sites[pc->c];
  IValue v = IVALUE_NONE;
  if (B.tag != TAG_TUPLE) CHECK(status_new(ERROR_RUNTIME, "a slice of something that is not a tuple"));
  CHECK(value_tuple_slice(B.tuple, site->begin, site->end, &v));
  LET_GO(B, MOVES_B);
  A = v;
  NEXT();
}
do_GET_ATTR : {
  if (__builtin_expect(B.tag != TAG_OBJECT || pc->c >= B.object->slot_count, 0))
    CHECK(status_new(ERROR_RUNTIME, "an attribute of something that is not an object of its class"));
  const Object *o = B.object;
  IValue v = __builtin_expect(object_is_shared(o), 0) ? object_get(o, pc->c) : ivalue_retain(o->slots[pc->c]);
  LET_GO(B, MOVES_B);
  A = v;
  NEXT();
}
do_SET_ATTR : {
  if (__builtin_expect(B.tag != TAG_OBJECT || pc->a >= B.object->slot_count, 0))
    CHECK(status_new(ERROR_RUNTIME, "an attribute of something that is not an object of its class"));
  object_set(B.object, pc->a, TAKE(C, MOVES_C));
  LET_GO(B, MOVES_B);
  NEXT();
}
do_CAST : {
  const Type *type = code->sites[pc->c].type;
  if (__builtin_expect(!value_fits(B, type), 0)) CHECK(value_cast_error(B, type));
  IValue v = TAKE(B, MOVES_B);
  A = v;
  NEXT();
}
do_UNWRAP : {
  if (B.tag == TAG_NONE) CHECK(status_new(ERROR_RUNTIME, "Unwrapping null optional"));
  IValue v = TAKE(B, MOVES_B);
  A = v;
  NEXT();
}
do_IS_INSTANCE : {
  const Site *site = &code->sites[pc->c];
  bool is = false;
  for (uint32_t i = 0; i < site->type_count && !is; i++) is = value_fits(B, site->types[i]);
  LET_GO(B, MOVES_B);
  A = ivalue_bool(is);
  NEXT();
}
do_ENUM_NAME:
do_ENUM_VALUE : {
  IValue v = IVALUE_NONE;
  CHECK(value_enum_part(B, pc->op == INST_ENUM_NAME, &v));
  LET_GO(B, MOVES_B);
  A = v;
  NEXT();
}
do_TO_LIST : {
  IValue v = IVALUE_NONE;
  CHECK(value_to_list(code->sites[pc->c].type, B, &v));
  LET_GO(B, MOVES_B);
  A = v;
  NEXT();
}
do_CONTAINER_INDEX : {
  IValue v = IVALUE_NONE;
  CHECK(value_container_index(B, C, &v));
  LET_GO(B, MOVES_B);
  LET_GO(C, MOVES_C);
  A = v;
  NEXT();
}

do_OP : {
  const Site *site = &code->sites[pc->a];
  GATHER(site)
  IValue *outputs = window + arg_count;
  for (uint32_t i = 0; i < site->output_count; i++) outputs[i] = IVALUE_NONE;
  Call call = {.exec = exec,
               .op = site->op,
               .inputs = window,
               .outputs = outputs,
               .input_count = arg_count,
               .output_count = site->output_count,
               .dying = site->dying,
               .state = site->state};
  if (__builtin_expect(exec->profile != NULL, 0))
    status = op_profile_run(code, pc, &call);
  else
    status = site->operation ? operator_call_made(exec, site->op, site->operation, &call)
                             : operator_call(exec, site->op, &call);
  SCATTER_DEAD();
  if (__builtin_expect(status != OK, 0)) {
    for (uint32_t i = 0; i < site->output_count; i++) ivalue_release(outputs[i]);
    goto failed;
  }
  STORE_OUTPUTS(site, outputs);
  NEXT();
}
do_CALLABLE : {
  const Site *site = &code->sites[pc->a];
  GATHER(site)
  IValue *outputs = window + arg_count;
  for (uint32_t i = 0; i < site->output_count; i++) outputs[i] = IVALUE_NONE;
  if (__builtin_expect(exec->profile != NULL, 0)) {
    Call call = {.exec = exec,
                 .inputs = window,
                 .outputs = outputs,
                 .input_count = arg_count,
                 .output_count = site->output_count};
    status = op_profile_run(code, pc, &call);
  } else {
    status = site->callable->run(site->callable, exec, window, arg_count, outputs, site->output_count);
  }
  if (!status) status = work_check(&exec->work);
  SCATTER_DEAD();
  if (status) {
    for (uint32_t i = 0; i < site->output_count; i++) ivalue_release(outputs[i]);
    goto failed;
  }
  STORE_OUTPUTS(site, outputs);
  NEXT();
}
do_CALL:
do_INTERFACE_CALL:
do_ENTER:
do_EXIT : {
  Site *site = &code->sites[pc->a];
  Function *function = site->function;
  TICK();
  if (pc->op == INST_INTERFACE_CALL)
    CHECK(transfer_find_method(site, r[OPERAND_REGISTER(code->operands[site->arg_begin])], &function));
  const Code *callee = atomic_load_explicit(&function->code, memory_order_acquire);
  if (__builtin_expect(!callee, 0)) CHECK(function_code(exec, function, &callee));
  uint32_t wanted = pc->op == INST_EXIT ? 4 : site->arg_count;
  if (__builtin_expect(callee->parameter_count != wanted, 0))
    CHECK(status_internal("'" STR_FMT "' takes %u arguments, not %u", STR_ARG(function->name), callee->parameter_count,
                          wanted));
  if (pc->op == INST_ENTER) {
    CHECK(autocast_check_entered(r[OPERAND_REGISTER(code->operands[site->arg_begin])]));
    if (frame->entered_count == code->enter_depth)
      CHECK(status_new(ERROR_RUNTIME, "a `with` is entered again before its exit"));
    frame->entered[frame->entered_count++] = ivalue_retain(r[OPERAND_REGISTER(code->operands[site->arg_begin])]);
  } else if (pc->op == INST_EXIT && frame->entered_count) {
    ivalue_release(frame->entered[--frame->entered_count]);
  }
  frame->pc = pc;
  Frame *new_frame;
  CHECK(task_push(task, callee, &new_frame));
  const uint32_t *operands = code->operands + site->arg_begin;
  for (uint32_t i = 0; i < site->arg_count; i++) {
    IValue *source = &r[OPERAND_REGISTER(operands[i])];
    new_frame->registers[i] = *source;
    if (operands[i] & OPERAND_MOVE)
      source->tag = TAG_NONE;
    else
      ivalue_retain(*source);
  }
  new_frame->output = site->output_count && pc->op != INST_EXIT ? code->operands[site->output_begin] : NO_REGISTER;
  ENTER_FRAME();
  GO();
}
do_FORK : {
  const Site *site = &code->sites[pc->a];
  GATHER(site)
  IValue future = IVALUE_NONE;
  status = transfer_fork(task, site, window, &future);
  SCATTER_DEAD();
  if (status) goto failed;
  STORE_OUTPUTS(site, &future);
  NEXT();
}
do_WAIT : {
  if (B.tag != TAG_FUTURE) CHECK(status_new(ERROR_RUNTIME, "wait() for something that is not a Future"));
  Future *future = B.future;
  if (!future_is_done(future)) {
    bool suspended;
    frame->pc = pc;
    use_up(exec, ticks_given - ticks);
    ticks_given = ticks;
    exec->task = outer_task;
    status = wait_suspend(task, future, &suspended);
    if (suspended) return RUN_SUSPENDED;
    exec->task = task;
    if (status) goto failed;
  }
  IValue v = IVALUE_NONE;
  CHECK(future_result(future, &v));
  LET_GO(B, MOVES_B);
  A = v;
  NEXT();
}
do_RAISE : {
  const Site *site = &code->sites[pc->a];
  GATHER(site)
  status = value_raise(site, window);
  SCATTER_DEAD();
  goto failed;
}
do_PROFILE : {
  IValue v = TAKE(B, MOVES_B);
  if (v.tag == TAG_TENSOR && task->run && task->run->profile)
    profile_observe(&task->run->profile->slots[pc->c], v.tensor, exec->grad_enabled);
  A = v;
  NEXT();
}
do_GUARD : {
  const Site *site = &code->sites[pc->c];
  bool holds = B.tag == TAG_TENSOR && guard_holds(site->type->tensor, B.tensor, exec->grad_enabled);
  if (__builtin_expect(
          !holds || (task->run && task->run->force_guard && transfer_guard_is_forced(task->run, site->entry)), 0)) {
    frame->pc = pc;
    CHECK(transfer_to_baseline(task, site, B));
    ENTER_FRAME();
    GO();
  }
  if (pc->a != pc->b) {
    IValue v = TAKE(B, MOVES_B);
    A = v;
  }
  NEXT();
}
do_STATE_GUARDS:
  if (transfer_state_holds(task, pc)) JUMP(pc->a);
  NEXT();
do_UNSUPPORTED:
  status = status_new(ERROR_UNSUPPORTED, "there is no operator '" STR_FMT "' for these arguments",
                      STR_ARG(code->sites[pc->a].name));
  goto failed;

failed:
  frame->pc = pc;
  if (task->run) transfer_note_failure(task);
  mem_budget_enter(NULL); /* what is said of the error comes on top */
  status = exec_memory_error(exec, status);
  if (status->code != ERROR_OUT_OF_MEMORY) status = trace_add(task, status);
  task->status = status;
  exec_enter(exec);
  transfer_unwind(task);
  exec->task = outer_task;
  return RUN_DONE;
done:
  task->status = status;
  exec->task = outer_task;
  use_up(exec, ticks_given - ticks);
  return RUN_DONE;
}

/* Something was left undone, and no operator stood behind it to say so. */
static void fail_unfinished(Task *task) {
  for (uint32_t i = 0; i < task->output_count; i++) {
    ivalue_release(task->outputs[i]);
    task->outputs[i] = IVALUE_NONE;
  }
  task->status = work_status();
}

RunState task_run(Task *task) {
  ExecBefore before = exec_enter(task->exec);
  WorkLimit limit = {task->exec->work.stop, task->exec->work.deadline_ns},
            *outer = work_limit_enter(task->exec->work.is_limited ? &limit : NULL);
  RunState state = run(task);
  if (state == RUN_DONE && limit.noticed && !task->status) fail_unfinished(task);
  work_limit_enter(outer);
  exec_leave(before);
  return state;
}
