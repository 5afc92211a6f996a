/* Making a FuseGroup of a node; its kernels as text. */
#include "fuse/group.h"

#include "call/call_plan.h"
#include "call/pointwise.h"
#include "fuse/backend.h"
#include "fuse/kept_shapes.h"
#include "fuse/lower.h"
#include "interp/interp.h"
#include "native/native_kernel.h"
#include "tile/formula.h"

/* ---- making ---- */

static void group_free(FuseGroup *group) {
  if (!group) return;
  for (FuseEntry *entry = group->entries, *next; entry; entry = next) {
    next = entry->next;
    fuse_entry_free(entry);
  }
  fuse_entry_free(group->expected);
  fuse_shapes_free(group->shapes);
  for (uint32_t i = 0; i < group->constant_count; i++) ivalue_release(group->constants[i]);
  code_free(group->code);
  mem_free(group->pieces);
  mem_free(group->steps);
  mem_free(group->operands);
  mem_free(group->constants);
  mem_free(group->stores);
  mem_free(group->leaves);
  mem_free(group->sources);
  mem_free(group->outputs);
  mem_free(group);
}

static void release_callable(Callable *callable) {
  group_free((FuseGroup *)callable);
}

typedef struct Sizes {
  size_t nodes, pieces, operands, values, stores;
} Sizes;

static Sizes count_sizes(const Graph *graph) {
  Sizes sizes = {.values = graph_input_count(graph)};
  BLOCK_EACH(node, graph->block) {
    if (node->kind == SYM_prim_Constant) continue;
    if (node->kind == SYM_prim_ConstantChunk) sizes.pieces += node->output_count;
    if (node->kind == SYM_prim_FusedConcat) sizes.stores += node->input_count;
    sizes.nodes++;
    sizes.operands += node->input_count;
    sizes.values += node->output_count;
  }
  sizes.stores += graph_output_count(graph);
  return sizes;
}

/* Numbers of the Subgraph's tensors while the group is made. */
typedef struct Maker {
  FuseGroup *group;
  const Graph *graph;
  PtrMap values; /* Value -> number + 1 */
  bool failed;   /* out of memory */
  bool *is_leaf; /* of inputs and pieces */
  uint64_t *sources;
} Maker;

static bool number_value(Maker *m, const Value *value, uint32_t number) {
  bool fine = ptrmap_put(&m->values, value, (void *)(uintptr_t)(number + 1));
  m->failed |= !fine;
  return fine;
}
static int find_value(const Maker *m, const Value *value) {
  return (int)(uintptr_t)ptrmap_get(&m->values, value) - 1;
}

static bool looks_at_numbers(const Operator *op) {
  KernelProgram *program;
  Status status = operator_program(op, &program);
  if (status || !program) {
    status_free(status);
    return true;
  }
  ShapeFunction *shape = op->row->shape;
  bool generic = !shape || shape == shape_pointwise || shape == shape_pointwise_float ||
                 shape == shape_pointwise_bool || shape == shape_pointwise_real;
  return !generic || formula_choice_count(kernel_program_formula(program)) > 0;
}

/* A result without the last dimension, which is there to be stored. */
static bool is_dropped(const FuseGroup *g, int value) {
  for (uint32_t i = 0; g->has_lines && i < g->step_count; i++)
    if (g->steps[i].result == value && g->steps[i].line.drops) return true;
  return false;
}

static bool add_step(Maker *m, const Node *node, uint32_t *operand_count) {
  FuseGroup *g = m->group;
  bool is_line = fuse_is_line(node);
  if (!is_line && !fuse_is_pointwise(node)) return false;
  const CallPlan *plan;
  Status status = call_plan(node_operator(node), &plan);
  if (status) {
    status_free(status);
    m->failed = true;
    return false;
  }
  const Operator *op = plan->functional;
  FuseStep *step = &g->steps[g->step_count++];
  step->op = op;
  step->is_write = fuse_is_write(node);
  step->shape = op->row->shape ? op->row->shape : shape_pointwise;
  step->first_operand = (uint16_t)*operand_count;
  step->operand_count = (uint16_t)node->input_count;
  step->result = g->value_count++;
  if (is_line) {
    step->line = fuse_line_of(node);
    if (g->has_lines && step->line.dim_count != g->line_dims) return false;
    g->has_lines = true;
    g->line_dims = step->line.dim_count;
  }
  bool numbers = false;
  for (uint32_t i = 0; i < node->input_count; i++) {
    Value *value = node_input(node, i);
    FuseOperand *operand = &g->operands[(*operand_count)++];
    IValue constant;
    if (value_is_constant(value, &constant)) {
      *operand = (FuseOperand){FUSE_CONSTANT, (uint16_t)g->constant_count};
      g->constants[g->constant_count++] = ivalue_retain(constant);
      if (constant.tag == TAG_TENSOR) return false;
      continue;
    }
    int number = find_value(m, value);
    if (number < 0 || is_dropped(g, number)) return false;
    bool tensor = value_is_tensor(value);
    *operand = (FuseOperand){tensor ? FUSE_VALUE : FUSE_NUMBER, (uint16_t)number};
    numbers |= !tensor;
    if (!tensor) continue;
    bool is_leaf = number < g->input_count + g->piece_count;
    if (is_leaf) m->is_leaf[number] = true;
    if (is_leaf && step->is_write && i == 0)
      g->written_inputs |= UINT64_C(1) << (number < g->input_count ? number : g->pieces[number - g->input_count].input);
    m->sources[step->result] |= m->sources[number];
  }
  step->depends_on_numbers = !is_line && numbers && looks_at_numbers(op);
  g->depends_on_numbers |= step->depends_on_numbers;
  return number_value(m, node_output(node, 0), step->result);
}

static bool add_pieces(Maker *m, const Node *node) {
  FuseGroup *g = m->group;
  int input = find_value(m, node_input(node, 0));
  if (input < 0 || input >= g->input_count || node->output_count < 1) return false;
  for (uint32_t i = 0; i < node->output_count; i++) {
    uint32_t number = g->value_count++;
    g->pieces[g->piece_count++] =
        (FusePiece){(uint16_t)input, (uint16_t)i, (uint16_t)node->output_count, node_int(node, SYM_attr_dim)};
    m->sources[number] = m->sources[input];
    if (!number_value(m, node_output(node, i), number)) return false;
  }
  return node_int(node, SYM_attr_chunks) == node->output_count;
}

static bool add_store(Maker *m, const Value *value) {
  FuseGroup *g = m->group;
  int number = find_value(m, value);
  if (number < 0 || !value_is_tensor(value)) return false;
  if (number < g->input_count + g->piece_count) m->is_leaf[number] = true;
  g->sources[g->store_count] = m->sources[number];
  g->stores[g->store_count++] = (uint16_t)number;
  return true;
}

static bool add_output(Maker *m, const Value *value) {
  FuseGroup *g = m->group;
  const Node *node = value->node;
  FuseOutput *output = &g->outputs[g->output_count++];
  output->first_store = g->store_count;
  if (node->kind == SYM_prim_FusedConcat) {
    output->is_cat = g->has_cat = true;
    output->dim = node_int(node, SYM_attr_dim);
    for (uint32_t i = 0; i < node->input_count; i++)
      if (!add_store(m, node_input(node, i))) return false;
  } else {
    if (!add_store(m, value)) return false;
    if (g->stores[g->store_count - 1] < g->input_count + g->piece_count) return false; /* an alias of an input */
  }
  output->store_count = (uint16_t)(g->store_count - output->first_store);
  return true;
}

/* False: the Subgraph is of a form that always runs operator by operator. */
static bool describe(Maker *m, const Sizes *sizes) {
  FuseGroup *g = m->group;
  const Graph *graph = m->graph;
  uint32_t operand_count = 0;
  if (graph_input_count(graph) > FUSE_MAX_INPUTS || sizes->stores > FUSE_MAX_STORES || !sizes->stores) return false;
  if (graph_input_count(graph) + sizes->nodes + sizes->stores > FUSE_MAX_KEY || sizes->values > UINT16_MAX / 4)
    return false;
  for (uint32_t i = 0; i < g->input_count; i++) {
    const Value *input = graph_input(graph, i);
    m->sources[i] = 1ull << i;
    if (value_is_tensor(input)) g->tensor_inputs |= 1ull << i;
    if (!number_value(m, input, i)) return false;
  }
  if (!g->tensor_inputs) return false;
  g->value_count = g->input_count;
  BLOCK_EACH(node, graph->block)
  if (node->kind == SYM_prim_ConstantChunk && !add_pieces(m, node)) return false;
  BLOCK_EACH(node, graph->block) {
    if (node->kind == SYM_prim_Constant || node->kind == SYM_prim_ConstantChunk || node->kind == SYM_prim_FusedConcat)
      continue;
    if (!add_step(m, node, &operand_count)) return false;
  }
  for (uint32_t i = 0; i < graph_output_count(graph); i++)
    if (!add_output(m, graph_output(graph, i))) return false;
  for (uint32_t i = 0; i < (uint32_t)g->input_count + g->piece_count; i++)
    if (m->is_leaf[i]) g->leaves[g->leaf_count++] = (uint16_t)i;
  return g->step_count > 0;
}

/* Kernels for a call of what the graph's types tell, results all of one size. A failure to make them is left to the
 * run that wants them. */
static void make_expected(FuseGroup *g, const Graph *graph) {
  Exec exec;
  uint8_t classes[FUSE_MAX_STORES];
  IValue inputs[FUSE_MAX_INPUTS];
  Tensor *looks = mem_calloc(g->value_count, sizeof *looks);
  const Tensor **values = mem_calloc(g->value_count, sizeof *values);
  uint8_t *key = mem_alloc((size_t)g->input_count + g->store_count);
  FuseEntry *entry = NULL;
  if (!looks || !values || !key) goto done;
  exec_init(&exec, NULL);
  FuseCall call = {&exec, g, inputs, values, classes};
  for (uint32_t i = 0; i < g->store_count; i++) classes[i] = (uint8_t)(i / KERNEL_MAX_OUTPUTS);
  for (uint32_t i = 0; i < g->input_count; i++) {
    const Type *type = graph_input(graph, i)->type;
    if (g->tensor_inputs >> i & 1) {
      const TensorInfo *info = type->tensor;
      looks[i].dtype = (uint8_t)(info && info->dtype >= 0 ? (DType)info->dtype : DTYPE_FLOAT32);
      looks[i].ndim = !info || info->ndim != 0;
      inputs[i] = ivalue_tensor(&looks[i]);
      values[i] = &looks[i];
      key[i] = fuse_key_of_tensor(&looks[i]);
    } else {
      inputs[i] = type->kind == TYPE_INT    ? ivalue_int(2)
                  : type->kind == TYPE_BOOL ? ivalue_bool(true)
                                            : ivalue_float(2);
      key[i] = fuse_key_of_number(inputs[i]);
    }
  }
  memcpy(key + g->input_count, classes, g->store_count);
  status_free(fuse_lower(&call, &entry));
  if (!entry) goto done;
  entry->key = key;
  entry->key_length = (uint32_t)g->input_count + g->store_count;
  key = NULL;
  g->expected = entry;
done:
  mem_free(key);
  mem_free(looks);
  mem_free(values);
}

Status fuse_group_new(const Node *node, Callable **out) {
  const NodeAttribute *attribute = node_attribute(node, SYM_attr_Subgraph);
  if (!attribute || attribute->tag != ATTR_GRAPH)
    return status_new(ERROR_INVALID_ARGUMENT, "a fusion group without a Subgraph");
  const Graph *graph = attribute->g;
  Sizes sizes = count_sizes(graph);
  FuseGroup *g = mem_calloc(1, sizeof *g);
  if (!g) return status_out_of_memory();
  ref_init(&g->callable.refs);
  g->callable.run = fuse_group_run;
  g->callable.release = release_callable;
  g->range = node->range;
  g->input_count = (uint16_t)graph_input_count(graph);
  Maker maker = {.group = g, .graph = graph};
  ptrmap_init(&maker.values, NULL);
  g->pieces = mem_calloc(sizes.pieces + 1, sizeof *g->pieces);
  g->steps = mem_calloc(sizes.nodes + 1, sizeof *g->steps);
  g->operands = mem_calloc(sizes.operands + 1, sizeof *g->operands);
  g->constants = mem_calloc(sizes.operands + 1, sizeof *g->constants);
  g->stores = mem_calloc(sizes.stores + 1, sizeof *g->stores);
  g->sources = mem_calloc(sizes.stores + 1, sizeof *g->sources);
  g->leaves = mem_calloc(sizes.values + 1, sizeof *g->leaves);
  g->outputs = mem_calloc(sizes.stores + 1, sizeof *g->outputs);
  maker.is_leaf = mem_calloc(sizes.values + 1, sizeof *maker.is_leaf);
  maker.sources = mem_calloc(sizes.values + 1, sizeof *maker.sources);
  Status status = OK;
  if (!g->pieces || !g->steps || !g->operands || !g->constants || !g->stores || !g->sources || !g->leaves ||
      !g->outputs || !maker.is_leaf || !maker.sources)
    status = status_out_of_memory();
  if (!status && !describe(&maker, &sizes)) {
    if (maker.failed) status = status_out_of_memory();
    g->form = FUSE_FORM;
  }
  if (!status) status = code_compile(graph, STR("FusionGroup"), &g->code);
  ptrmap_dispose(&maker.values);
  mem_free(maker.is_leaf);
  mem_free(maker.sources);
  if (status) {
    group_free(g);
    return status;
  }
  if (!g->form) make_expected(g, graph);
  *out = &g->callable;
  return OK;
}

FuseGroup *fuse_group_of(Callable *callable) {
  return callable && callable->run == fuse_group_run ? (FuseGroup *)callable : NULL;
}

/* ---- text ---- */

/* Where WICK_BACKEND asks for machine code: that of a kernel whose tensors move along all dimensions. */
static Status print_machine_code(const FuseKernel *kernel, StrBuf *out) {
  bool is_number[KERNEL_MAX_ARGUMENTS] = {false};
  if (fuse_backend_of_environment() != BACKEND_NATIVE) return OK;
  for (uint32_t i = 0; i < kernel->argument_count; i++)
    is_number[i] = (kernel->arguments[i] & FUSE_ARGUMENT_NUMBER) != 0;
  if (!native_is_there() || !native_suits(kernel->kernel, is_number)) {
    Reason reason = native_is_there() ? REASON_NOT_COMPILED_OPERATION : REASON_NOT_COMPILED_MACHINE;
    strbuf_printf(out, "# %s\n", reason_text(reason));
    return OK;
  }
  NativeKernel *native;
  TRY(native_kernel_new(kernel->kernel, is_number, is_number, out, &native));
  strbuf_printf(out, "# %zu bytes of machine code\n", native_kernel_code_bytes(native));
  native_kernel_free(native);
  return OK;
}

static Status print_entry(const FuseGroup *g, const FuseEntry *entry, StrBuf *out) {
  if (entry->refusal) {
    strbuf_printf(out, "%s\n", reason_text(fuse_refusal_reason(entry->refusal)));
    return OK;
  }
  strbuf_puts(out, "inputs:");
  for (uint32_t i = 0; i < g->input_count; i++) {
    uint8_t key = entry->key[i];
    if (g->tensor_inputs >> i & 1)
      strbuf_printf(out, " %s%s", dtype_name((DType)(key & 31)), key & 32 ? "[]" : "");
    else
      strbuf_puts(out, (key & 15) == TAG_INT ? " int" : (key & 15) == TAG_BOOL ? " bool" : " float");
  }
  strbuf_char(out, '\n');
  for (uint32_t i = 0; i < entry->kernel_count; i++) {
    kernel_print(entry->kernels[i].kernel, out);
    TRY(print_machine_code(&entry->kernels[i], out));
  }
  return OK;
}

Status fuse_group_print(FuseGroup *g, StrBuf *out) {
  if (g->form) {
    strbuf_printf(out, "%s\n", reason_text(fuse_refusal_reason(g->form)));
    return OK;
  }
  FuseEntry *entry = atomic_load_explicit(&g->entries, memory_order_acquire);
  if (!entry) return g->expected ? print_entry(g, g->expected, out) : OK;
  for (; entry; entry = entry->next) TRY(print_entry(g, entry, out));
  return OK;
}

static Status print_block(const Block *block, uint32_t *count, StrBuf *out) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) TRY(print_block(node->blocks[i], count, out));
    const NodeAttribute *subgraph = node_attribute(node, SYM_attr_Subgraph);
    if (!subgraph || subgraph->tag != ATTR_GRAPH) continue;
    FuseGroup *group = fuse_group_of(node->callable);
    if (!group) {
      TRY(print_block(subgraph->g->block, count, out));
      continue;
    }
    strbuf_printf(out, "# FusionGroup %u\n", (*count)++);
    TRY(fuse_group_print(group, out));
  }
  return OK;
}

Status fuse_print_kernels(const Graph *graph, StrBuf *out) {
  uint32_t count = 0;
  if (!graph_fits_stack(graph)) return graph_too_deep();
  return print_block(graph->block, &count, out);
}
