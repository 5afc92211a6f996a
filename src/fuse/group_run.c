/* Running a FuseGroup: looking at the inputs, finding or making the kernels for them, allocating, running. What does
 * not suit is left to the Subgraph's Code. */
#include "call/pointwise.h"

#include <assert.h>

#include "fuse/group.h"
#include "fuse/kept_shapes.h"
#include "fuse/lines.h"
#include "fuse/lower.h"
#include "interp/interp.h"
#include "report/reason.h"
#include "tile/formula.h"

/* What one run finds out. Looks of pieces and results are tensors on the stack or in one block: nobody counts them. */
typedef struct Run {
  FuseCall call;
  Device device;
  uint32_t chain; /* the back ends for it */
  uint8_t key[FUSE_MAX_KEY], classes[FUSE_MAX_STORES];
  uint32_t key_length;
  Tensor *looks, *results; /* of pieces; of the steps' results */
} Run;

/* The one device that all tensors are on. */
static bool find_device(const FuseGroup *g, const IValue *inputs, Device *out) {
  bool has_one = false;
  for (uint32_t i = 0; i < g->input_count; i++) {
    if (!(g->tensor_inputs >> i & 1)) continue;
    Device device = tensor_device(inputs[i].tensor);
    if (has_one && !device_equal(device, *out)) return false;
    *out = device;
    has_one = true;
  }
  return has_one;
}

/* false: no memory, as the operators will say. */
static bool restore_inputs(const FuseGroup *g, const IValue *inputs) {
  Status status = OK;
  for (uint32_t i = 0; i < g->input_count && !status; i++)
    if (g->tensor_inputs >> i & 1) status = tensor_restore(inputs[i].tensor);
  bool is_there = !status;
  status_free(status);
  return is_there;
}

static FuseRefusal check_inputs(const FuseGroup *g, const Exec *exec, const IValue *inputs, uint8_t *key,
                                uint32_t *out_flags) {
  uint32_t flags = 0;
  for (uint32_t i = 0; i < g->input_count; i++) {
    IValue v = inputs[i];
    if (g->tensor_inputs >> i & 1) {
      if (__builtin_expect(v.tag != TAG_TENSOR, 0)) return FUSE_KIND;
      const Tensor *t = v.tensor;
      flags |= t->flags;
      if (__builtin_expect(t->ndim > FUSE_MAX_DIMS, 0)) return FUSE_RANK;
      key[i] = fuse_key_of_tensor(t);
    } else {
      if (__builtin_expect(v.tag > TAG_BOOL && v.tag != TAG_COMPLEX, 0)) return FUSE_KIND;
      key[i] = fuse_key_of_number(v);
    }
  }
  *out_flags = flags;
  if (__builtin_expect(flags & ((TENSOR_UNUSUAL & ~TENSOR_NOT_CPU) | TENSOR_UNDEFINED), 0)) return FUSE_KIND;
  if (__builtin_expect(flags & TENSOR_DROPPED, 0) && !restore_inputs(g, inputs)) return FUSE_KIND;
  uint64_t may_record = exec->grad_enabled ? g->tensor_inputs : g->written_inputs;
  if (may_record && flags & (TENSOR_RECORDS | TENSOR_VIEW))
    for (uint32_t i = 0; i < g->input_count; i++)
      if (may_record >> i & 1 && tensor_records(inputs[i].tensor)) return FUSE_GRADIENT;
  return FUSE_NOT_REFUSED;
}
_Static_assert(DTYPE_QUINT2X4 < 32, "a dtype takes five bits of a key; groups leave limited ones");

static void set_look(Tensor *look, DType dtype, int ndim) {
  assert(ndim >= 0 && ndim <= TENSOR_MAX_DIMS);
  memset(look, 0, offsetof(Tensor, dims));
  look->dtype = (uint8_t)dtype;
  look->ndim = (uint8_t)ndim;
  look->sizes = look->dims;
  look->strides = look->dims + FUSE_MAX_DIMS;
}
_Static_assert(sizeof((Tensor){0}.dims) == 2 * FUSE_MAX_DIMS * sizeof(int64_t), "looks fit into a Tensor's own room");

static void finish_look(Tensor *look) {
  look->numel = 1;
  for (int i = 0; i < look->ndim; i++) look->numel *= look->sizes[i];
  tensor_judge_strides(look);
}

/* The part [start, start + length) of a tensor along a dimension. */
static void look_at_part(Tensor *look, const Tensor *whole, int dim, int64_t start, int64_t length) {
  assert(dim >= 0 && dim < whole->ndim && start + length <= whole->sizes[dim]);
  set_look(look, (DType)whole->dtype, whole->ndim);
  memcpy(look->sizes, whole->sizes, sizeof(int64_t) * whole->ndim);
  memcpy(look->strides, whole->strides, sizeof(int64_t) * whole->ndim);
  look->sizes[dim] = length;
  look->storage = whole->storage;
  look->offset = whole->offset + start * whole->strides[dim];
  finish_look(look);
}

/* The last dimensions, along which lines are, as one; a tensor has all of them, in one run, or moves along none. */
static void look_at_lines(Tensor *look, const Tensor *t, int dims) {
  int kept = t->ndim > dims ? t->ndim - dims : 0;
  int64_t length = 1, stride = 0;
  for (int d = t->ndim - 1; d >= kept; d--) {
    if (t->sizes[d] == 1) continue;
    if (length == 1) stride = t->strides[d];
    length *= t->sizes[d];
  }
  set_look(look, (DType)t->dtype, kept + (t->ndim > 0));
  memcpy(look->sizes, t->sizes, sizeof(int64_t) * (size_t)kept);
  memcpy(look->strides, t->strides, sizeof(int64_t) * (size_t)kept);
  if (t->ndim) {
    look->sizes[kept] = length;
    look->strides[kept] = length == 1 ? 1 : stride;
  }
  look->storage = t->storage;
  look->offset = t->offset;
  finish_look(look);
}

static bool look_at_piece(Tensor *look, const Tensor *whole, const FusePiece *piece) {
  int64_t dim = piece->dim < 0 ? piece->dim + whole->ndim : piece->dim;
  if (dim < 0 || dim >= whole->ndim) return false;
  int64_t size = whole->sizes[dim], each = size / piece->count + (size % piece->count != 0);
  int64_t start = piece->index * each;
  if (size > 0 && (piece->count - 1) * each >= size) return false; /* chunk gives fewer */
  look_at_part(look, whole, (int)dim, start, start + each > size ? size - start : each);
  return true;
}

static bool same_sizes(const Tensor *a, const Tensor *b) {
  return a->ndim == b->ndim && !memcmp(a->sizes, b->sizes, sizeof(int64_t) * a->ndim);
}

/* The frequent case: every tensor is row-major and has the same sizes, or has no dimensions and is not all that a
 * store depends on. Then so have all results. */
static const Tensor *find_uniform(const FuseGroup *g, const Tensor *const *values) {
  const Tensor *first = NULL;
  uint64_t dimensioned = 0;
  for (uint32_t i = 0; i < g->leaf_count; i++) {
    uint32_t leaf = g->leaves[i];
    const Tensor *t = values[leaf];
    if (t->ndim == 0) continue;
    if (!t->row_major || !t->numel) return NULL;
    dimensioned |= 1ull << (leaf < g->input_count ? leaf : g->pieces[leaf - g->input_count].input);
    if (!first)
      first = t;
    else if (!same_sizes(first, t))
      return NULL;
  }
  if (first)
    for (uint32_t i = 0; i < g->store_count; i++)
      if (!(g->sources[i] & dimensioned)) return NULL;
  return first;
}

/* What a write computes must be what self is; then it gets self's strides. */
static bool keep_self(const Tensor *self, TensorSpec *spec) {
  size_t size = sizeof(int64_t) * self->ndim;
  if (spec->dtype != (DType)self->dtype || spec->ndim != self->ndim || memcmp(spec->sizes, self->sizes, size) ||
      !tensor_is_dense(self))
    return false;
  spec->has_strides = true;
  memcpy(spec->strides, self->strides, size);
  return true;
}

static Tensor *result_look(const Run *run, const FuseStep *step) {
  assert(step->result >= run->call.group->input_count + run->call.group->piece_count);
  return &run->results[step->result - run->call.group->input_count - run->call.group->piece_count];
}

/* Runs every step's shape function; numbers that formulas look at go into the key. */
static bool find_shapes(Run *run) {
  const FuseGroup *g = run->call.group;
  for (uint32_t i = 0; i < g->step_count; i++) {
    const FuseStep *step = &g->steps[i];
    IValue inputs[FORMULA_MAX_PARAMETERS];
    TensorSpec spec;
    Call call;
    fuse_step_call(&run->call, step, inputs, &call);
    Status error = fuse_step_shape(&call, step, &spec);
    if (error) {
      status_free(error);
      return false;
    }
    if (spec.ndim > FUSE_MAX_DIMS || spec.flags) return false;
    if (step->is_write && !keep_self(inputs[0].tensor, &spec)) return false;
    Tensor *look = result_look(run, step);
    set_look(look, spec.dtype, spec.ndim);
    memcpy(look->sizes, spec.sizes, sizeof(int64_t) * (size_t)spec.ndim);
    if (spec.has_strides)
      memcpy(look->strides, spec.strides, sizeof(int64_t) * (size_t)spec.ndim);
    else
      strides_contiguous(spec.ndim, spec.sizes, look->strides);
    finish_look(look);
    run->call.values[step->result] = look;
    if (!step->depends_on_numbers) continue;
    TileArgument arguments[FORMULA_MAX_PARAMETERS];
    KernelProgram *program;
    error = operator_program(step->op, &program);
    if (error) {
      status_free(error);
      return false;
    }
    for (uint32_t k = 0; k < step->operand_count; k++) pointwise_set_argument(&arguments[k], inputs[k]);
    run->key[run->key_length++] = (uint8_t)formula_choices(kernel_program_formula(program), arguments);
  }
  return true;
}

/* The looks of all results: those kept, where they are of such operands, else new ones, which are kept. */
static bool find_results(Run *run, FuseShapes *kept) {
  const FuseGroup *g = run->call.group;
  if (!kept) return find_shapes(run);
  run->results = kept->looks;
  if (fuse_shapes_are_for(kept, &run->call, run->key)) {
    for (uint32_t i = 0; i < g->step_count; i++) run->call.values[g->steps[i].result] = result_look(run, &g->steps[i]);
    return true;
  }
  kept->is_filled = false;
  if (!find_shapes(run)) return false;
  fuse_shapes_fill(kept, &run->call, run->key);
  return true;
}

/* Stores of equal sizes share a kernel; all do where there are line functions (fuse_lines_check). */
static void find_classes(Run *run) {
  const FuseGroup *g = run->call.group;
  uint8_t members[FUSE_MAX_STORES] = {0}, count = 0, first[FUSE_MAX_STORES];
  for (uint32_t i = 0; i < g->store_count; i++) {
    uint8_t class = 0;
    const Tensor *look = run->call.values[g->stores[i]];
    while (class < count && (members[class] == KERNEL_MAX_OUTPUTS ||
                             (!g->has_lines && !same_sizes(look, run->call.values[g->stores[first[class]]]))))
      class ++;
    if (class == count) first[count++] = (uint8_t)i;
    members[class]++;
    run->classes[i] = class;
    run->key[run->key_length++] = class;
  }
}

static bool is_entry_for(const FuseEntry *entry, const uint8_t *key, uint32_t length) {
  return entry->key_length == length && !memcmp(entry->key, key, length);
}

static FuseEntry *find_entry(const FuseGroup *g, const uint8_t *key, uint32_t length) {
  for (FuseEntry *entry = atomic_load_explicit(&g->entries, memory_order_acquire); entry; entry = entry->next)
    if (is_entry_for(entry, key, length)) return entry;
  return NULL;
}

/* The expected entry, now the caller's, if it suits; else it goes back to its place. */
static FuseEntry *take_expected(FuseGroup *g, const Run *run) {
  FuseEntry *entry = atomic_exchange(&g->expected, NULL);
  if (!entry || is_entry_for(entry, run->key, run->key_length)) return entry;
  atomic_store(&g->expected, entry);
  return NULL;
}

static Status lower_for(FuseGroup *g, const Run *run, FuseEntry **out) {
  if ((*out = take_expected(g, run))) return OK;
  TRY(fuse_lower(&run->call, out));
  FuseEntry *entry = *out;
  if (!(entry->key = mem_alloc(run->key_length + 1))) return status_out_of_memory();
  memcpy(entry->key, run->key, run->key_length);
  entry->key_length = run->key_length;
  return OK;
}

/* Makes an entry and puts it in front. Threads that race may make the same twice: both serve. */
static FuseRefusal make_entry(FuseGroup *g, Run *run, FuseEntry **out, Status *status) {
  if (atomic_fetch_add(&g->entry_count, 1) >= FUSE_MAX_ENTRIES) {
    atomic_fetch_sub(&g->entry_count, 1);
    return FUSE_CACHE_FULL;
  }
  FuseEntry *entry = NULL;
  *status = lower_for(g, run, &entry);
  if (*status) {
    fuse_entry_free(entry);
    atomic_fetch_sub(&g->entry_count, 1);
    return FUSE_FAILED;
  }
  entry->next = atomic_load_explicit(&g->entries, memory_order_relaxed);
  while (!atomic_compare_exchange_weak(&g->entries, &entry->next, entry)) continue;
  *out = entry;
  return FUSE_NOT_REFUSED;
}

/* The metadata of a cat's result, as its operator has it. */
static bool find_cat_spec(const Run *run, const FuseOutput *output, TensorSpec *spec) {
  static OpRef cat = OP_REF("aten::cat", "");
  const FuseGroup *g = run->call.group;
  IValue parts[FUSE_MAX_STORES];
  const Operator *op = atomic_load_explicit(&cat.op, memory_order_acquire);
  if (!op) {
    op = operator_find_overload(STR("aten::cat"), STR(""));
    if (!op) return false;
    atomic_store_explicit(&cat.op, op, memory_order_release);
  }
  for (uint32_t i = 0; i < output->store_count; i++)
    parts[i] = ivalue_tensor((Tensor *)run->call.values[g->stores[output->first_store + i]]);
  List list = {.kind = LIST_VALUES,
               .element = TYPE(TENSOR),
               .length = output->store_count,
               .capacity = output->store_count,
               .values = parts};
  IValue inputs[2] = {ivalue_list(&list), ivalue_int(output->dim)};
  Call call = {.exec = run->call.exec, .op = op, .inputs = inputs, .input_count = 2, .output_count = 1};
  spec->dtype = DTYPE_NONE;
  spec->device = DEVICE_CPU_0;
  spec->flags = 0;
  spec->ndim = 0;
  spec->has_strides = false;
  Status error = op->row->shape(&call, spec);
  status_free(error);
  if (error) return false;
  for (uint32_t i = 0; i < output->store_count; i++)
    if (parts[i].tensor->ndim != spec->ndim || parts[i].tensor->dtype != spec->dtype) return false;
  return spec->ndim > 0 && spec->ndim <= FUSE_MAX_DIMS;
}

static void set_spec(TensorSpec *spec, DType dtype, Device device, const Tensor *like) {
  spec->dtype = dtype;
  spec->device = device;
  spec->flags = 0;
  spec->ndim = like->ndim;
  spec->has_strides = !like->row_major;
  memcpy(spec->sizes, like->sizes, sizeof(int64_t) * like->ndim);
  if (spec->has_strides) memcpy(spec->strides, like->strides, sizeof(int64_t) * like->ndim);
}

/* Allocates the outputs; targets[i] is where store i goes. */
static FuseRefusal make_outputs(Run *run, const FuseEntry *entry, const Tensor *uniform, IValue *outputs,
                                Tensor **targets, Tensor *parts, Status *status) {
  const FuseGroup *g = run->call.group;
  TensorSpec spec;
  for (uint32_t i = 0; i < g->output_count; i++) {
    const FuseOutput *output = &g->outputs[i];
    Tensor *made;
    if (!output->is_cat) {
      const Tensor *like = uniform ? uniform : run->call.values[g->stores[output->first_store]];
      set_spec(&spec, (DType)entry->dtypes[output->first_store], run->device, like);
      if ((*status = tensor_new(&spec, &made))) return FUSE_FAILED;
      outputs[i] = ivalue_tensor(made);
      targets[output->first_store] = made;
      continue;
    }
    if (!find_cat_spec(run, output, &spec)) return FUSE_SHAPE;
    spec.device = run->device;
    if ((*status = tensor_new(&spec, &made))) return FUSE_FAILED;
    outputs[i] = ivalue_tensor(made);
    int dim = (int)(output->dim < 0 ? output->dim + spec.ndim : output->dim);
    int64_t start = 0;
    for (uint32_t k = 0; k < output->store_count; k++) {
      uint32_t store = output->first_store + k;
      int64_t length = run->call.values[g->stores[store]]->sizes[dim];
      look_at_part(&parts[store], made, dim, start, length);
      targets[store] = &parts[store];
      start += length;
    }
  }
  return FUSE_NOT_REFUSED;
}

/* By the first back end of the chain that is ready. */
static FuseRefusal run_kernel(const Run *run, FuseKernel *kernel, const TileArgument *arguments, Tensor *const *outputs,
                              Status *status) {
  const FuseGroup *g = run->call.group;
  const Work *work = &run->call.exec->work;
  if (__builtin_expect(run->chain != 1u << BACKEND_TILE, 0)) {
    FuseSignature signature;
    fuse_signature(work->precision, kernel->kernel, arguments, kernel->argument_count, outputs, &signature);
    FuseCompiled *compiled = fuse_compiled_enter(&kernel->compiled, kernel->kernel, run->chain, &signature, g->range);
    if (compiled) {
      *status = fuse_compiled_run(compiled, work->threads, arguments, outputs);
      fuse_compiled_leave(compiled);
      return *status ? FUSE_FAILED : FUSE_NOT_REFUSED;
    }
    if (!(run->chain >> BACKEND_TILE & 1)) return FUSE_NOT_READY;
  }
  *status = fuse_backend_tile.run(kernel->kernel, kernel->interpreted, work->threads, arguments, outputs);
  return *status ? FUSE_FAILED : FUSE_NOT_REFUSED;
}

/* Operands as tensors whose lines are along the last dimension alone. */
static void join_lines(const FuseGroup *g, const FuseKernel *kernel, TileArgument *arguments, Tensor **outputs,
                       Tensor *looks) {
  for (uint32_t k = 0; k < kernel->argument_count; k++) {
    if (arguments[k].kind != TILE_ARG_TENSOR) continue;
    look_at_lines(looks, arguments[k].tensor, g->line_dims);
    arguments[k].tensor = looks++;
  }
  for (uint32_t k = 0; k < kernel->output_count; k++) {
    if (fuse_line_is_dropped(g, g->stores[kernel->outputs[k]])) continue;
    look_at_lines(looks, outputs[k], g->line_dims);
    outputs[k] = looks++;
  }
}

static FuseRefusal run_kernels(const Run *run, FuseEntry *entry, Tensor *const *targets, Status *status) {
  const FuseGroup *g = run->call.group;
  TileArgument arguments[KERNEL_MAX_ARGUMENTS];
  Tensor *outputs[KERNEL_MAX_OUTPUTS];
  FuseRefusal refusal = FUSE_NOT_REFUSED;
  for (uint32_t i = 0; i < entry->kernel_count && !refusal; i++) {
    FuseKernel *kernel = &entry->kernels[i];
    for (uint32_t k = 0; k < kernel->argument_count; k++) {
      uint16_t source = kernel->arguments[k];
      if (source & FUSE_ARGUMENT_NUMBER) {
        pointwise_set_argument(&arguments[k], run->call.inputs[source & ~FUSE_ARGUMENT_NUMBER]);
      } else {
        arguments[k].kind = TILE_ARG_TENSOR;
        arguments[k].tensor = run->call.values[source];
      }
    }
    for (uint32_t k = 0; k < kernel->output_count; k++) outputs[k] = targets[kernel->outputs[k]];
    Tensor looks[KERNEL_MAX_ARGUMENTS + KERNEL_MAX_OUTPUTS];
    if (g->line_dims > 1) join_lines(g, kernel, arguments, outputs, looks);
    refusal = run_kernel(run, kernel, arguments, outputs, status);
  }
  return refusal;
}

enum { LOOKS_ON_STACK = 48, VALUES_ON_STACK = 80 };

static FuseRefusal run_fused(FuseGroup *g, Exec *exec, const IValue *inputs, IValue *outputs, Status *status) {
  if (__builtin_expect(g->form, 0)) return g->form;
  if (__builtin_expect(exec->recorder != NULL, 0)) return FUSE_TRACED;
  Run run;
  uint32_t flags;
  FuseRefusal refusal = check_inputs(g, exec, inputs, run.key, &flags);
  if (__builtin_expect(refusal, 0)) return refusal;
  run.device = DEVICE_CPU_0;
  if (__builtin_expect(flags & TENSOR_NOT_CPU, 0) && !find_device(g, inputs, &run.device)) return FUSE_KIND;
  run.chain = fuse_chain(exec, run.device.type);
  if (__builtin_expect(!run.chain, 0)) return FUSE_SWITCHED_OFF;

  Tensor looks[LOOKS_ON_STACK], parts[FUSE_MAX_STORES], *targets[FUSE_MAX_STORES];
  const Tensor *values[VALUES_ON_STACK];
  void *block = NULL;
  FuseShapes *kept = NULL;
  uint32_t look_count = (uint32_t)g->value_count - g->input_count;
  run.call = (FuseCall){exec, g, inputs, values, run.classes};
  run.looks = looks;
  run.key_length = g->input_count;
  if (__builtin_expect(look_count > LOOKS_ON_STACK || g->value_count > VALUES_ON_STACK, 0)) {
    block = mem_alloc(look_count * sizeof(Tensor) + g->value_count * sizeof *values);
    if (!block) {
      *status = status_out_of_memory();
      return FUSE_FAILED;
    }
    run.looks = block;
    run.call.values = (const Tensor **)(run.looks + look_count);
  }
  run.results = run.looks + g->piece_count;
  for (uint32_t i = 0; i < g->input_count; i++)
    run.call.values[i] = g->tensor_inputs >> i & 1 ? inputs[i].tensor : NULL;
  refusal = FUSE_SHAPE;
  for (uint32_t i = 0; i < g->piece_count; i++) {
    const FusePiece *piece = &g->pieces[i];
    if (!look_at_piece(&run.looks[i], inputs[piece->input].tensor, piece)) goto done;
    run.call.values[g->input_count + i] = &run.looks[i];
  }
  const Tensor *uniform = g->has_cat || g->has_lines || g->depends_on_numbers || g->written_inputs
                              ? NULL
                              : find_uniform(g, run.call.values);
  if (uniform) {
    memset(run.classes, 0, g->store_count);
    for (uint32_t i = 0; i < g->store_count; i++) run.classes[i] = (uint8_t)(i / KERNEL_MAX_OUTPUTS);
    memcpy(run.key + run.key_length, run.classes, g->store_count);
    run.key_length += g->store_count;
  } else {
    kept = fuse_shapes_take(g);
    if (!find_results(&run, kept)) goto done;
    if (g->has_lines && (refusal = fuse_lines_check(&run.call))) goto done;
    find_classes(&run);
  }
  refusal = FUSE_NOT_REFUSED;
  FuseEntry *entry = find_entry(g, run.key, run.key_length);
  if (__builtin_expect(!entry, 0)) refusal = make_entry(g, &run, &entry, status);
  if (!refusal) refusal = entry->refusal;
  if (!refusal) refusal = make_outputs(&run, entry, uniform, outputs, targets, parts, status);
  if (!refusal && (refusal = run_kernels(&run, entry, targets, status)) == FUSE_FAILED)
    if ((*status)->code != ERROR_OUT_OF_MEMORY) {
      status_free(*status);
      *status = OK;
    }
done:
  if (kept) fuse_shapes_give_back(g, kept);
  if (block) mem_free(block);
  return refusal;
}

Status fuse_group_run(Callable *callable, Exec *exec, const IValue *inputs, uint32_t input_count, IValue *outputs,
                      uint32_t output_count) {
  FuseGroup *g = (FuseGroup *)callable;
  Status status = OK;
  if (!g->form && (input_count != g->input_count || output_count != g->output_count))
    return status_internal("a fusion group of %u inputs and %u outputs got %u and %u", g->input_count, g->output_count,
                           input_count, output_count);
  FuseRefusal refusal = run_fused(g, exec, inputs, outputs, &status);
  if (__builtin_expect(!refusal, 1)) {
    atomic_fetch_add_explicit(&g->runs, 1, memory_order_relaxed);
    return OK;
  }
  for (uint32_t i = 0; i < output_count; i++) {
    ivalue_release(outputs[i]);
    outputs[i] = IVALUE_NONE;
  }
  if (status) return status;
  atomic_fetch_add_explicit(&g->refusals[refusal], 1, memory_order_relaxed);
  if (refusal != FUSE_SWITCHED_OFF) reason_add(fuse_refusal_reason(refusal), g->range);
  return interp_run(exec, g->code, inputs, input_count, outputs, output_count);
}
