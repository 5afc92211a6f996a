/* Evaluation on meta tensors. */
#include "pass/types/shape_evaluate.h"

#include <assert.h>

#include "call/row.h"
#include "call/runtime.h"
#include "pass/types/tensor_facts.h"
#include "schema/schema.h"
#include "type/tensor_type.h"

enum { MAX_INPUTS = 64, MAX_OUTPUTS = CALL_MAX_OUTPUTS, MAX_STEPS = 100000 };

Status shape_evaluator_init(ShapeEvaluator *e, Exec *exec, Arena *scratch) {
  memset(e, 0, sizeof *e);
  exec_init_in(&e->exec, exec ? exec->runtime : runtime_of_process(), exec ? exec->services : NULL);
  e->scratch = scratch;
  e->exec.work.budget = &e->budget;
  if (exec) {
    e->exec.work.stop = exec->work.stop;
    e->exec.work.torch_version = exec->work.torch_version;
    e->exec.native_depth = exec->native_depth;
  }
  e->exec.work.threads = 1;
  e->exec.grad_enabled = false;
  e->exec.is_silent = true;
  ptrmap_init(&e->known, scratch);
  TRY(generator_new(0, &e->generator));
  e->exec.generator = e->generator;
  return OK;
}

void shape_evaluator_dispose(ShapeEvaluator *e) {
  for (size_t i = 0; i < e->held.length; i++) ivalue_release(e->held.data[i]);
  generator_release(e->generator);
}

typedef struct KnownValue {
  IValue value;
  bool is_known;
  bool strides_known; /* of the tensors in a list, as the device */
  int device_type, device_index;
} KnownValue;

static bool is_list_of_tensors(IValue v) {
  if (v.tag != TAG_LIST || v.list->kind != LIST_VALUES) return false;
  for (size_t i = 0; i < v.list->length; i++)
    if (v.list->values[i].tag != TAG_TENSOR) return false;
  return true;
}

/* ---- what is known of values ---- */

/* Nothing below can throw between an evaluation and this: there is room already. */
static void make_room(ShapeEvaluator *e, const Node *node) {
  vec_arena_reserve(e->scratch, &e->held, e->held.length + node->output_count);
  for (uint32_t i = 0; i < node->output_count; i++) {
    const Value *output = node_output(node, i);
    if (output->type->kind == TYPE_TENSOR) continue;
    KnownValue *known = ptrmap_get(&e->known, output);
    if (!known) ptrmap_put(&e->known, output, known = ARENA_NEW(e->scratch, KnownValue));
    known->is_known = false;
  }
}

static void note(ShapeEvaluator *e, const Value *output, KnownValue known) { /* takes over the value */
  e->held.data[e->held.length++] = known.value;
  *(KnownValue *)ptrmap_get(&e->known, output) = known;
}

static const KnownValue *find_known(const ShapeEvaluator *e, const Value *value) {
  const KnownValue *known = ptrmap_get(&e->known, value);
  return known && known->is_known ? known : NULL;
}

static void info_of_result(const Tensor *t, int device_type, int device_index, bool strides_known, TensorInfo *out) {
  tensor_info_init(out);
  if (!tensor_is_defined(t)) {
    out->undefined = 1;
    return;
  }
  if (t->flags & TENSOR_NOT_DESCRIBED & ~(uint32_t)TENSOR_META) return;
  out->dtype = t->dtype;
  out->device_type = device_type;
  out->device_index = device_index;
  out->ndim = t->ndim;
  out->has_sizes = true;
  memcpy(out->sizes, t->sizes, t->ndim * sizeof *t->sizes);
  out->has_strides = strides_known;
  memcpy(out->strides, t->strides, t->ndim * sizeof *t->strides);
}

void shape_known_elements(const ShapeEvaluator *e, Node *unpack, int requires_grad) {
  const KnownValue *known = find_known(e, node_input(unpack, 0));
  if (!known || !is_list_of_tensors(known->value) || known->value.list->length != unpack->output_count) return;
  for (uint32_t i = 0; i < unpack->output_count; i++) {
    TensorInfo info;
    info_of_result(list_tensor(known->value.list, i), known->device_type, known->device_index, known->strides_known,
                   &info);
    info.requires_grad = requires_grad;
    node_output(unpack, i)->type = type_tensor_refined(unpack->graph->store, &info);
  }
}

/* ---- arguments ---- */

/* What stands in for the unknown: sizes (never in strict mode) are all of one filling, or one of them is something else
 * than 1; bools get every combination; floats hardly ever say anything about sizes, and where they do, these differ. */
static const int64_t fillings[] = {1, 3, 48, 80};
static const double numbers[] = {0, 0.25, 1, 2.5, 1000};
enum {
  FILLINGS = sizeof fillings / sizeof *fillings,
  NUMBERS = sizeof numbers / sizeof *numbers,
  MAX_BOOLS = 3,
  MAX_SIZES = 8,      /* unknown ones that are tried alone */
  MAX_CANDIDATES = 4, /* for these: 48, and what other sizes are */
};
typedef struct Trial {
  uint32_t filling, number, bools;
} Trial;
typedef struct Sizes {
  uint32_t unknown; /* sizes that were filled in */
  int64_t filled[MAX_SIZES];
  uint32_t candidate_count;
  int64_t candidates[MAX_CANDIDATES];
} Sizes;

static int64_t fill(Sizes *sizes, uint32_t filling) {
  uint32_t i = sizes->unknown++, alone = filling - FILLINGS;
  int64_t size = filling < FILLINGS                    ? fillings[filling]
                 : i == alone / sizes->candidate_count ? sizes->candidates[alone % sizes->candidate_count]
                                                       : 1;
  if (i < MAX_SIZES) sizes->filled[i] = size;
  return size;
}

static void add_candidate(Sizes *sizes, int64_t size) {
  for (uint32_t i = 0; i < sizes->candidate_count; i++)
    if (sizes->candidates[i] == size) return;
  if (size > 1 && sizes->candidate_count < MAX_CANDIDATES) sizes->candidates[sizes->candidate_count++] = size;
}

typedef struct Arguments {
  ShapeEvaluator *e;
  bool strict;
  Sizes sizes;
  bool strides_unknown;
  bool any_scalar; /* numbers may be anything: the operator is pointwise */
  Trial trial;
  uint32_t bools, floats;        /* unknown ones */
  int device_type, device_index; /* of the tensors so far: -2 none yet, -1 unknown */
  IValue values[MAX_INPUTS];     /* owned when in `owned` */
  bool owned[MAX_INPUTS];
  uint32_t count;
} Arguments;

static void arguments_dispose(Arguments *a) {
  assert(a->count <= MAX_INPUTS);
  for (uint32_t i = 0; i < a->count; i++)
    if (a->owned[i]) ivalue_release(a->values[i]);
}

static void see_device(Arguments *a, int type, int index) {
  if (a->device_type == -2) {
    a->device_type = type;
    a->device_index = index;
  } else if (a->device_type != type || a->device_index != index) {
    a->device_type = a->device_index = -1;
  }
}

static bool tensor_of_info(Arguments *a, const TensorInfo *info, IValue *out) {
  if (!info) return false;
  if (info->undefined == 1) {
    *out = ivalue_tensor(tensor_undefined());
    return true;
  }
  if (info->dtype < 0 || info->ndim < 0) return false;
  TensorSpec spec;
  tensor_info_to_spec(info, &spec);
  for (int i = 0; i < info->ndim; i++) {
    if (info->has_sizes && info->sizes[i] >= 0) {
      if (a->trial.filling == 0) add_candidate(&a->sizes, info->sizes[i]);
      continue;
    }
    if (a->strict) return false;
    spec.sizes[i] = fill(&a->sizes, a->trial.filling);
    spec.has_strides = false;
  }
  if (!spec.has_strides && info->ndim) a->strides_unknown = true;
  see_device(a, info->device_type, info->device_index);
  spec.device = (Device){DEVICE_META, -1};
  spec.flags = TENSOR_META;
  Tensor *t;
  Status status = tensor_new(&spec, &t);
  if (status != OK) {
    status_free(status);
    return false;
  }
  if (spec.has_strides) { /* overlapping or with gaps: no allocation can look like that */
    memcpy(t->strides, info->strides, (size_t)info->ndim * sizeof *t->strides);
    tensor_judge_strides(t);
  }
  *out = ivalue_tensor(t);
  return true;
}

static bool tensor_without_data(Arguments *a, const Tensor *t, IValue *out) {
  if (!tensor_is_defined(t)) {
    *out = ivalue_tensor(tensor_undefined());
    return true;
  }
  if (t->flags & TENSOR_NOT_DESCRIBED & ~(uint32_t)(TENSOR_WRAPPED_NUMBER | TENSOR_META)) return false;
  TensorInfo info;
  TensorSpec spec;
  tensor_spec_of(t, &spec);
  spec.flags &= ~(uint32_t)TENSOR_WRAPPED_NUMBER;
  tensor_info_of_spec(&spec, &info);
  if (!tensor_of_info(a, &info, out)) return false;
  out->tensor->flags |= t->flags & TENSOR_WRAPPED_NUMBER;
  return true;
}

static bool argument(Arguments *a, const Value *value, IValue *out, bool *owned, int depth);

static bool list_argument(Arguments *a, const Value *value, IValue *out) {
  const Node *node = value->node;
  if (node->kind != SYM_prim_ListConstruct || !list_is_plain(value)) return false;
  List *list;
  Status status = list_new(value->type->elements[0], node->input_count, &list);
  bool known = status == OK;
  for (uint32_t i = 0; known && i < node->input_count; i++) {
    IValue item = IVALUE_NONE;
    bool owned = false;
    known = argument(a, node_input(node, i), &item, &owned, 1);
    if (!known) break;
    status = list_append(list, owned ? item : ivalue_retain(item));
    known = status == OK;
  }
  if (known) {
    *out = ivalue_list(list);
    return true;
  }
  if (status == OK)
    ivalue_release(ivalue_list(list));
  else
    status_free(status);
  return false;
}

/* A real tensor in a constant list could be read: only lists without tensors pass as they are. */
static bool is_plain_constant(IValue v) {
  switch ((Tag)v.tag) {
    case TAG_NONE:
    case TAG_INT:
    case TAG_FLOAT:
    case TAG_COMPLEX:
    case TAG_BOOL:
    case TAG_STRING:
    case TAG_DEVICE:
      return true;
    case TAG_LIST:
      if (v.list->kind == LIST_VALUES)
        for (size_t i = 0; i < v.list->length; i++)
          if (v.list->values[i].tag == TAG_LIST || !is_plain_constant(v.list->values[i])) return false;
      return true;
    default:
      return false;
  }
}

static bool argument(Arguments *a, const Value *value, IValue *out, bool *owned, int depth) {
  *owned = false;
  IValue v;
  if (value_is_constant(value, &v)) {
    if (v.tag == TAG_TENSOR) return *owned = tensor_without_data(a, v.tensor, out);
    *out = v;
    return is_plain_constant(v);
  }
  if (value->type->kind == TYPE_TENSOR) return *owned = tensor_of_info(a, value->type->tensor, out);
  const KnownValue *known = find_known(a->e, value);
  if (known) {
    if (known->value.tag == TAG_LIST && !list_is_plain(value)) return false;
    if (is_list_of_tensors(known->value)) {
      see_device(a, known->device_type, known->device_index);
      a->strides_unknown |= !known->strides_known;
    }
    *out = known->value;
    return true;
  }
  if (depth == 0 && value->type->kind == TYPE_LIST) return *owned = list_argument(a, value, out);
  switch (value->type->kind) {
    case TYPE_NONE:
      *out = IVALUE_NONE;
      return true;
    case TYPE_INT:
      *out = ivalue_int(1);
      return a->any_scalar;
    case TYPE_FLOAT:
      *out = ivalue_float(a->any_scalar ? 1 : numbers[a->trial.number]);
      a->floats += !a->any_scalar;
      return true;
    case TYPE_BOOL:
      *out = ivalue_bool(a->any_scalar ? false : a->trial.bools >> a->bools & 1);
      a->bools += !a->any_scalar;
      return a->bools <= MAX_BOOLS;
    default:
      return false;
  }
}

/* An operator that is told a device makes its tensors there; here they have no data wherever they are. */
static void redirect_device(Arguments *a, const FunctionSchema *schema, bool has_tensors) {
  ptrdiff_t at = schema_find_argument(schema, STR("device"));
  if (at < 0 || (size_t)at >= a->count) {
    if (!has_tensors) a->device_type = a->device_index = -1;
    return;
  }
  if (a->values[at].tag == TAG_DEVICE)
    a->device_type = a->values[at].device.type, a->device_index = a->values[at].device.index;
  else if (!has_tensors)
    a->device_type = DEVICE_CPU, a->device_index = -1;
  else
    return;
  if (a->device_type == DEVICE_CPU) a->device_index = -1;
  a->values[at] = (IValue){.tag = TAG_DEVICE, .device = {DEVICE_META, -1}};
}

static bool arguments_init(Arguments *a, ShapeEvaluator *e, const Node *node, const Operator *op, bool strict,
                           Trial trial, const Sizes *sizes) {
  *a = (Arguments){.e = e, .strict = strict, .trial = trial, .device_type = -2, .device_index = -1};
  a->any_scalar = op->row->lower != NULL;
  a->sizes.candidate_count = 1;
  a->sizes.candidates[0] = 48;
  if (trial.filling > 0) a->sizes = *sizes;
  a->sizes.unknown = 0;
  for (uint32_t i = 0; i < node->input_count; i++, a->count++)
    if (!argument(a, node_input(node, i), &a->values[i], &a->owned[i], 0)) {
      arguments_dispose(a);
      return false;
    }
  bool has_tensors = a->device_type != -2;
  const FunctionSchema *schema = operator_schema(op);
  redirect_device(a, schema, has_tensors);
  /* Without a device to set, an operator that takes no tensor would make one with data. */
  bool makes_data = !has_tensors && a->device_type == -1;
  for (uint32_t i = 0; i < node->output_count && makes_data; i++) {
    TypeKind kind = (TypeKind)node_output(node, i)->type->kind;
    if (kind != TYPE_TENSOR && kind != TYPE_LIST) continue;
    if (kind == TYPE_LIST && node_output(node, i)->type->elements[0]->kind != TYPE_TENSOR) continue;
    arguments_dispose(a);
    return false;
  }
  return true;
}

/* ---- results ---- */

/* Whether a result that is no tensor says the same of tensors with data. Where tensors are is none of that. */
static bool can_note(const Arguments *a, const Value *output, IValue v) {
  if (a->sizes.unknown || a->any_scalar || a->bools || a->floats) return false;
  switch ((Tag)v.tag) {
    case TAG_INT:
    case TAG_FLOAT:
      return true;
    case TAG_LIST:
      if (output->type->kind != TYPE_LIST) return false;
      return v.list->kind == LIST_INTS || is_list_of_tensors(v);
    default:
      return false;
  }
}

/* One run. infos are merged with what earlier runs gave (first: there were none). */
static bool run(ShapeEvaluator *e, Node *node, const Operator *op, Arguments *a, TensorInfo *infos, bool first) {
  IValue outputs[MAX_OUTPUTS];
  for (uint32_t i = 0; i < node->output_count; i++) outputs[i] = IVALUE_NONE;
  Call call = {.exec = &e->exec,
               .op = op,
               .inputs = a->values,
               .outputs = outputs,
               .input_count = a->count,
               .output_count = node->output_count};
  atomic_store(&e->budget.steps_left, MAX_STEPS);
  Status status = operator_call(&e->exec, op, &call);
  bool ok = status == OK;
  status_free(status);
  for (uint32_t i = 0; i < node->output_count; i++) {
    if (ok && outputs[i].tag == TAG_TENSOR) {
      TensorInfo info;
      info_of_result(outputs[i].tensor, a->device_type, a->device_index, !a->strides_unknown, &info);
      if (first)
        infos[i] = info;
      else
        tensor_info_merge(&infos[i], &info);
    } else if (ok && first && can_note(a, node_output(node, i), outputs[i])) {
      note(e, node_output(node, i),
           (KnownValue){outputs[i], true, !a->strides_unknown, a->device_type, a->device_index});
      continue;
    }
    ivalue_release(outputs[i]);
  }
  return ok;
}

static bool can_evaluate(const Node *node, const Operator *op) {
  const FunctionSchema *schema = operator_schema(op);
  return !(op->flags & OP_SIDE_EFFECTS) && !schema->is_mutable && !schema->is_vararg && !schema->is_varret &&
         node->input_count == schema->argument_count && node->input_count <= MAX_INPUTS &&
         node->output_count <= MAX_OUTPUTS && !node->block_count && !op->library;
}

/* Sizes that were filled in must have been different in runs that succeeded; else results may hold for one filling. */
typedef struct Coverage {
  Sizes sizes;
  int64_t least[MAX_SIZES], most[MAX_SIZES];
} Coverage;

static void cover(Coverage *c, const Sizes *sizes, bool first) {
  for (uint32_t i = 0; i < sizes->unknown && i < MAX_SIZES; i++) {
    if (first || sizes->filled[i] < c->least[i]) c->least[i] = sizes->filled[i];
    if (first || sizes->filled[i] > c->most[i]) c->most[i] = sizes->filled[i];
  }
}

static bool is_covered(const Coverage *c) {
  for (uint32_t i = 0; i < c->sizes.unknown; i++)
    if (i >= MAX_SIZES || c->least[i] == c->most[i]) return false;
  return true;
}

bool shape_evaluate(ShapeEvaluator *e, Node *node, bool strict, TensorInfo *infos) {
  for (uint32_t i = 0; i < node->output_count; i++) tensor_info_init(&infos[i]);
  make_room(e, node);
  const Operator *op = node_operator(node);
  if (!op || !can_evaluate(node, op)) return false;
  bool any = false;
  Coverage coverage;
  Trial most = {0, 0, 0}; /* the last trial of each kind; known after the first */
  for (Trial t = {0, 0, 0}; t.filling <= most.filling;) {
    Arguments a;
    if (!arguments_init(&a, e, node, op, strict, t, &coverage.sizes)) return false;
    if (t.filling == 0) coverage.sizes = a.sizes;
    if (run(e, node, op, &a, infos, !any)) {
      cover(&coverage, &a.sizes, !any);
      any = true;
    }
    uint32_t alone = a.sizes.unknown < MAX_SIZES ? a.sizes.unknown : MAX_SIZES;
    most = (Trial){a.sizes.unknown ? FILLINGS + alone * a.sizes.candidate_count - 1 : 0, a.floats ? NUMBERS - 1 : 0,
                   (1u << a.bools) - 1};
    arguments_dispose(&a);
    if (t.bools < most.bools)
      t.bools++;
    else if (t.number < most.number)
      t = (Trial){t.filling, t.number + 1, 0};
    else
      t = (Trial){t.filling + 1, 0, 0};
  }
  if (any && !is_covered(&coverage))
    for (uint32_t i = 0; i < node->output_count; i++) infos[i].has_sizes = infos[i].has_strides = infos[i].ndim == 0;
  return any;
}

/* Of one node by itself, strictly. No services are there, so nothing is known of what a body computes. */
static bool evaluate_alone(Arena *scratch, Node *node, TensorInfo *infos) {
  ShapeEvaluator evaluator;
  Catch inner, *outer = scratch->catch_point;
  bool known = false;
  Status status = shape_evaluator_init(&evaluator, NULL, scratch);
  if (status) catch_throw(outer, status);
  if (catch_enter(&inner)) {
    scratch->catch_point = &inner;
    known = shape_evaluate(&evaluator, node, true, infos);
  }
  scratch->catch_point = outer;
  shape_evaluator_dispose(&evaluator);
  if (inner.status) catch_throw(outer, inner.status);
  return known;
}

bool shape_keeps_first_input(Arena *scratch, Node *node) {
  const Type *type = node_input(node, 0)->type;
  const TensorInfo *known = type->kind == TYPE_TENSOR ? type->tensor : NULL;
  TensorInfo result;
  if (!known || !tensor_info_is_complete(known) || node->output_count != 1 || !evaluate_alone(scratch, node, &result))
    return false;
  result.requires_grad = known->requires_grad;
  result.undefined = known->undefined;
  return tensor_info_implies(&result, known);
}
