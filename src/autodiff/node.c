/* GradNodes, what they save, and the autograd data of tensors. */
#include "autodiff/node.h"

#include "autodiff/foreign_gradient.h"
#include "autodiff/graph_program.h"
#include "base/fork.h"
#include "call/call.h"
#include "tensor/changed.h"
#include "tensor/storage_share.h"

static _Atomic uint64_t next_sequence = 1;
/* Over accumulators' borrowed pointers, retained gradients and leaves' .grad, which several backward runs may share. */
static pthread_mutex_t leaf_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- metadata ---- */

static Status copy_sizes(size_t count, const int64_t *from, int64_t **out) {
  *out = NULL;
  if (!count) return OK;
  *out = mem_alloc(count * sizeof *from);
  if (!*out) return status_out_of_memory();
  memcpy(*out, from, count * sizeof *from);
  return OK;
}

Status metadata_of(const Tensor *t, Metadata *out) {
  *out = (Metadata){.dtype = t->dtype, .ndim = t->ndim, .sparse = t->flags & TENSOR_SPARSE};
  return copy_sizes(t->ndim, t->sizes, &out->sizes);
}

Status geometry_of(const Tensor *t, Geometry *out) {
  *out = (Geometry){.ndim = t->ndim, .offset = t->offset};
  TRY(copy_sizes(t->ndim, t->sizes, &out->sizes));
  return copy_sizes(t->ndim, t->strides, &out->strides);
}

static void geometry_dispose(Geometry *g) {
  mem_free(g->sizes);
  mem_free(g->strides);
}

/* ---- hooks ---- */

static void drop_hooks(GradHooks *hooks) {
  for (size_t i = 0; i < hooks->length; i++)
    if (hooks->data[i].drop) hooks->data[i].drop(hooks->data[i].user);
  vec_dispose(hooks);
}

/* Takes over *grad and gives what the hooks make of it. */
static Status run_hooks(const GradHooks *hooks, Tensor **grad) {
  for (size_t i = 0; i < hooks->length; i++) {
    Tensor *replacement = NULL;
    TRY(hooks->data[i].call(hooks->data[i].user, *grad, &replacement));
    if (!replacement) continue;
    if (!tensor_same_sizes(replacement, *grad) || replacement->dtype != (*grad)->dtype) {
      Status status = status_new(ERROR_RUNTIME, "hook has changed the size or the type of value");
      tensor_release(replacement);
      return status;
    }
    tensor_release(*grad);
    *grad = replacement;
  }
  return OK;
}

Status gradoutput_run_hooks(const GradOutput *output, Tensor **grad) {
  return run_hooks(&output->hooks, grad);
}

/* ---- nodes ---- */

Status gradnode_new(GradKind kind, uint32_t output_count, uint32_t edge_count, GradNode **out) {
  GradNode *node = mem_calloc(1, sizeof *node);
  if (!node) return status_out_of_memory();
  ref_init(&node->refs);
  node->kind = kind;
  node->outputs = mem_calloc(output_count + 1u, sizeof *node->outputs);
  node->edges = mem_calloc(edge_count + 1u, sizeof *node->edges);
  node->output_count = output_count;
  node->edge_count = edge_count;
  node->sequence = atomic_fetch_add(&next_sequence, 1);
  if (!node->outputs || !node->edges) {
    node->output_count = node->outputs ? output_count : 0;
    node->edge_count = node->edges ? edge_count : 0;
    gradnode_release(node);
    return status_out_of_memory();
  }
  *out = node;
  return OK;
}

GradNode *gradnode_retain(GradNode *node) {
  if (node) ref_retain(&node->refs);
  return node;
}

/* The last reference went: true when the caller must free. An accumulator may be found through its leaf until here. */
static bool drop_reference(GradNode *node) {
  if (node->kind != GRAD_ACCUMULATE) return ref_release(&node->refs);
  lock_take(&leaf_lock);
  bool last = ref_release(&node->refs);
  if (last && node->leaf) node->leaf->autograd->accumulator = NULL;
  lock_drop(&leaf_lock);
  return last;
}

/* Nodes whose last reference went wait in a list, linked through `sequence`, which they need no more. */
static void push_dead(GradNode **dead, GradNode *node) {
  if (!node || !drop_reference(node)) return;
  node->sequence = (uint64_t)(uintptr_t)*dead;
  *dead = node;
}

static void saved_dispose(SavedTensor *saved, GradNode **dead) {
  tensor_release(saved->tensor);
  push_dead(dead, saved->history.node);
  *saved = (SavedTensor){0};
}

static void release_saved(GradNode *node, GradNode **dead) {
  for (uint32_t i = 0; node->saved && i < node->saved_count; i++) {
    SavedValue *v = &node->saved[i];
    ivalue_release(v->value);
    for (size_t k = 0; k < v->count; k++) saved_dispose(&v->tensors[k], dead);
    mem_free(v->tensors);
    *v = (SavedValue){0};
  }
  for (uint32_t i = 0; node->results && i < node->result_count; i++) saved_dispose(&node->results[i], dead);
}

static void free_node(GradNode *node, GradNode **dead) {
  release_saved(node, dead);
  for (uint32_t i = 0; i < node->edge_count; i++) {
    push_dead(dead, node->edges[i].to.node);
    mem_free(node->edges[i].metadata.sizes);
  }
  for (uint32_t i = 0; i < node->output_count; i++) {
    mem_free(node->outputs[i].metadata.sizes);
    drop_hooks(&node->outputs[i].hooks);
  }
  foreign_gradient_free(node->foreign);
  push_dead(dead, node->inner);
  graph_program_release(node->program);
  if (node->holds_leaf) tensor_release(node->leaf);
  geometry_dispose(&node->base);
  geometry_dispose(&node->view);
  mem_free(node->saved);
  mem_free(node->results);
  mem_free(node->arguments);
  mem_free(node->outputs);
  mem_free(node->edges);
  mem_free(node);
}

static void free_dead(GradNode *dead) {
  while (dead) {
    GradNode *node = dead;
    dead = (GradNode *)(uintptr_t)node->sequence;
    free_node(node, &dead);
  }
}

void gradnode_release(GradNode *node) {
  GradNode *dead = NULL;
  push_dead(&dead, node);
  free_dead(dead);
}

void gradnode_release_saved(GradNode *node) {
  GradNode *dead = NULL;
  node->released = true;
  release_saved(node, &dead);
  if (node->inner) {
    node->inner->released = true;
    release_saved(node->inner, &dead);
  }
  free_dead(dead);
}

void gradedge_release(GradEdge edge) {
  gradnode_release(edge.node);
}

/* ---- the autograd data of tensors ---- */

/* Gives up the history, which the caller has to release. */
static GradEdge take_history(AutogradMeta *meta) {
  GradEdge edge = meta->history;
  if (meta->retains_grad && edge.node) {
    lock_take(&leaf_lock);
    edge.node->outputs[edge.output].retains = NULL;
    lock_drop(&leaf_lock);
  }
  meta->history = (GradEdge){0};
  return edge;
}

static void meta_free(AutogradMeta *meta) {
  drop_hooks(&meta->hooks);
  if (meta->accumulator) {
    lock_take(&leaf_lock);
    if (meta->accumulator) meta->accumulator->leaf = NULL;
    lock_drop(&leaf_lock);
  }
  gradedge_release(take_history(meta));
  tensor_release(meta->grad);
  tensor_release(meta->head.base);
  mem_free(meta);
}

Status autograd_meta(Tensor *t, AutogradMeta **out) {
  if (!__atomic_load_n(&t->autograd, __ATOMIC_ACQUIRE)) {
    AutogradMeta *meta = mem_calloc(1, sizeof *meta);
    if (!meta) return status_out_of_memory();
    meta->head.free = meta_free;
    lock_take(&leaf_lock); /* threads may use a leaf for the first time together */
    if (!t->autograd) {
      __atomic_store_n(&t->autograd, meta, __ATOMIC_RELEASE);
      meta = NULL;
    }
    lock_drop(&leaf_lock);
    mem_free(meta);
  }
  *out = t->autograd;
  return OK;
}

/* Under leaf_lock. True: the accumulator's reference to t is now the caller's to release. */
static bool settle(Tensor *t, const AutogradMeta *meta) {
  GradNode *node = meta->accumulator;
  if (!node) return false;
  bool held = node->holds_leaf, grad_leads_on = meta->grad && meta->grad->flags & TENSOR_RECORDS;
  node->leaf_moved = meta->history.node;
  node->holds_leaf = !node->leaf_moved && !meta->head.base && !grad_leads_on;
  if (node->holds_leaf && !held) tensor_retain(t);
  return held && !node->holds_leaf;
}

void autograd_settle(Tensor *t) {
  if (!t->autograd->accumulator) return;
  lock_take(&leaf_lock);
  bool releases = settle(t, t->autograd);
  lock_drop(&leaf_lock);
  if (releases) tensor_release(t);
}

void autograd_detach(Tensor *t) {
  AutogradMeta *meta = t->autograd;
  tensor_set_flags(t, t->flags & ~(uint32_t)(TENSOR_RECORDS | TENSOR_VIEW));
  if (!meta) return;
  GradEdge history = take_history(meta);
  Tensor *base = meta->head.base;
  meta->head.base = NULL;
  meta->retains_grad = false;
  autograd_settle(t);
  gradedge_release(history);
  tensor_release(base);
}

/* Under leaf_lock: a reference to what is only borrowed; NULL when it is gone, or about to. */
static Tensor *live(Tensor *borrowed) {
  return borrowed && ref_retain_live(&borrowed->refs) ? borrowed : NULL;
}

Status autograd_leaf(GradNode *accumulator, Tensor **out) {
  lock_take(&leaf_lock);
  bool moved = accumulator->leaf_moved;
  Tensor *leaf = moved ? NULL : live(accumulator->leaf);
  lock_drop(&leaf_lock);
  *out = NULL;
  if (moved) return status_new(ERROR_RUNTIME, "leaf variable has been moved into the graph interior");
  if (leaf && !(leaf->flags & TENSOR_REQUIRES_GRAD)) {
    tensor_release(leaf);
    leaf = NULL;
  }
  *out = leaf;
  return OK;
}

Tensor *gradoutput_retains(const GradOutput *output) {
  if (!output->retains) return NULL;
  lock_take(&leaf_lock);
  Tensor *t = live(output->retains);
  lock_drop(&leaf_lock);
  return t;
}

Status autograd_set_history(Tensor *t, GradEdge edge) {
  AutogradMeta *meta;
  Status status = autograd_meta(t, &meta);
  if (status) {
    gradedge_release(edge);
    return status;
  }
  GradEdge old = take_history(meta);
  if (meta->retains_grad) {
    lock_take(&leaf_lock);
    edge.node->outputs[edge.output].retains = t;
    lock_drop(&leaf_lock);
  }
  meta->history = edge;
  gradedge_release(old);
  autograd_settle(t);
  meta->head.version = tensor_version(t);
  tensor_set_flags(t, (t->flags & ~(uint32_t)TENSOR_REQUIRES_GRAD) | TENSOR_HAS_GRAD_FN);
  return OK;
}

/* The tensor's accumulator, owned: the one it has, else `made`, which it then has. NULL: neither. */
static GradNode *share_accumulator(Tensor *t, GradNode *made) {
  AutogradMeta *meta = t->autograd;
  lock_take(&leaf_lock);
  GradNode *shared = gradnode_retain(meta->accumulator ? meta->accumulator : made);
  if (shared && shared == made) {
    made->leaf = t;
    meta->accumulator = made;
  }
  bool releases = settle(t, meta);
  lock_drop(&leaf_lock);
  if (releases) tensor_release(t);
  return shared;
}

static Status accumulator_of(Tensor *t, GradNode **out) {
  AutogradMeta *meta;
  TRY(autograd_meta(t, &meta));
  *out = share_accumulator(t, NULL);
  if (*out) return OK;
  GradNode *made;
  TRY(gradnode_new(GRAD_ACCUMULATE, 1, 0, &made));
  made->sequence = 0; /* after everything that leads to it */
  made->outputs[0].differentiable = true;
  Status status = metadata_of(t, &made->outputs[0].metadata);
  if (!status) *out = share_accumulator(t, made);
  gradnode_release(made);
  return status;
}

Status autograd_refresh(Tensor *t) { /* of a leaf, which other threads may use now, only flags are read */
  GradNode *node;
  if (!(t->flags & TENSOR_VIEW) || !(tensor_catch_up(t) & TENSOR_HAS_GRAD_FN)) return OK;
  const AutogradMeta *meta = t->autograd;
  if (!meta || !meta->head.base) return OK;
  if (meta->head.version == tensor_version(t) || !(meta->head.base->flags & TENSOR_RECORDS)) return OK;
  TRY(record_strided_view(meta->head.base, t, &node));
  return autograd_set_history(t, (GradEdge){node, 0});
}

Status autograd_edge(Tensor *t, GradEdge *out) {
  *out = (GradEdge){0};
  TRY(autograd_refresh(t));
  if (t->flags & TENSOR_REQUIRES_GRAD) return accumulator_of(t, &out->node);
  AutogradMeta *meta = t->autograd;
  if (!(t->flags & TENSOR_HAS_GRAD_FN) || !meta) return OK;
  *out = (GradEdge){gradnode_retain(meta->history.node), meta->history.output};
  return OK;
}

/* Where the tensor's hooks stand: with a leaf, or with the call that made it. NULL: it requires no gradient. */
static Status hooks_of(Tensor *t, GradHooks **out) {
  AutogradMeta *meta;
  *out = NULL;
  TRY(autograd_refresh(t));
  if (!(t->flags & TENSOR_RECORDS)) return OK;
  TRY(autograd_meta(t, &meta));
  GradEdge edge = meta->history;
  *out = edge.node && !(t->flags & TENSOR_REQUIRES_GRAD) ? &edge.node->outputs[edge.output].hooks : &meta->hooks;
  return OK;
}

Status autograd_add_hook(Tensor *t, GradHook hook) {
  GradHooks *hooks;
  Status status = hooks_of(t, &hooks);
  if (!status && !hooks)
    status = status_new(ERROR_RUNTIME, "cannot register a hook on a tensor that doesn't require gradient");
  if (!status && !vec_push(hooks, hook)) status = status_out_of_memory();
  if (status && hook.drop) hook.drop(hook.user);
  return status;
}

void autograd_clear_hooks(Tensor *t) {
  GradHooks *hooks = NULL;
  status_free(hooks_of(t, &hooks));
  if (hooks) drop_hooks(hooks);
  if (t->autograd) drop_hooks(&t->autograd->hooks);
}

Status autograd_run_hooks(Tensor *leaf, Tensor **grad) {
  return leaf->autograd ? run_hooks(&leaf->autograd->hooks, grad) : OK;
}

Status autograd_note_view(Tensor *t, Tensor *of) {
  AutogradMeta *meta;
  TRY(autograd_meta(t, &meta));
  if (meta->head.base) return OK;
  meta->head.base = tensor_retain(of->autograd && of->autograd->head.base ? of->autograd->head.base : of);
  meta->head.version = tensor_version(t);
  tensor_set_flags(t, t->flags | TENSOR_VIEW);
  autograd_settle(t);
  return OK;
}

static Status own_gradient(Tensor *grad, Tensor **out) {
  bool own = ref_is_unique(&grad->refs) && grad->storage && storage_is_free_to_write(grad->storage) &&
             tensor_is_dense(grad) && !(grad->flags & TENSOR_UNUSUAL);
  if (!own) return tensor_clone(grad, out);
  *out = tensor_retain(grad);
  return OK;
}

Status gradient_sum(Exec *exec, Tensor *a, Tensor *b, IValue *out) {
  static OpRef add = OP_REF("aten::add", "Tensor");
  bool swapped = a->flags & TENSOR_SPARSE && !(b->flags & TENSOR_SPARSE);
  return op_call(exec, &add, 2, (IValue[]){ivalue_tensor(swapped ? b : a), ivalue_tensor(swapped ? a : b)}, 1, out);
}

Status autograd_accumulate(Exec *exec, Tensor *leaf, Tensor *grad, bool keep_history) {
  static OpRef add_ = OP_REF("aten::add_", "Tensor");
  AutogradMeta *meta;
  TRY(autograd_meta(leaf, &meta));
  IValue sum = IVALUE_NONE;
  Status status = OK;
  lock_take(&leaf_lock);
  Tensor *old = meta->grad, *now = NULL;
  lock_drop(&leaf_lock);
  if (keep_history) { /* recorded, which takes the lock itself: such runs over one leaf are the caller's to keep apart
                       */
    if (old) status = gradient_sum(exec, old, grad, &sum);
    if (!status) meta->grad = old ? sum.tensor : tensor_retain(grad);
    if (!status) tensor_release(old);
    if (!status) autograd_settle(leaf);
    return status;
  }
  lock_take(&leaf_lock);
  old = meta->grad;
  if (!old)
    status = own_gradient(grad, &meta->grad);
  else if (!(old->flags & TENSOR_RECORDS) && (old->flags & TENSOR_SPARSE) == (grad->flags & TENSOR_SPARSE))
    status = op_call(exec, &add_, 2, (IValue[]){ivalue_tensor(old), ivalue_tensor(grad)}, 1, &sum);
  else
    status = gradient_sum(exec, old, grad, &sum);
  if (!status && old && sum.tensor != old) {
    now = sum.tensor;
    meta->grad = now;
  }
  lock_drop(&leaf_lock);
  if (now)
    tensor_release(old);
  else
    ivalue_release(sum);
  return status;
}

/* ---- saved tensors ---- */

Status saved_tensor(Tensor *t, bool checked, SavedTensor *out) {
  *out = (SavedTensor){.checked = checked};
  if (!tensor_is_defined(t)) return OK;
  out->version = tensor_version(t);
  TRY(tensor_alias(t, &out->tensor));
  Status status = autograd_edge(t, &out->history);
  if (status) {
    tensor_release(out->tensor);
    out->tensor = NULL;
  }
  return status;
}

Status saved_tensor_unpack(const SavedTensor *saved, bool is_read, bool with_history, GradEdge own, Tensor **out) {
  const Tensor *t = saved->tensor;
  if (!t) {
    *out = tensor_undefined();
    return OK;
  }
  if (is_read && saved->checked && tensor_version(t) != saved->version)
    return status_new(ERROR_RUNTIME,
                      "one of the variables needed for gradient computation has been modified by an inplace operation: "
                      "[torch.%sTensor %s] is at version %u; expected version %u instead",
                      dtype_scalar_name((DType)t->dtype), SIZES_TEXT(t->ndim, t->sizes), tensor_version(t),
                      saved->version);
  GradEdge edge = saved->history.node ? saved->history : own;
  if (!with_history || !edge.node) {
    *out = tensor_retain(t);
    return OK;
  }
  Tensor *alias;
  TRY(tensor_alias(t, &alias));
  Status status = autograd_set_history(alias, (GradEdge){gradnode_retain(edge.node), edge.output});
  if (status)
    tensor_release(alias);
  else
    *out = alias;
  return status;
}

static Status unpack_list(const SavedValue *saved, bool is_read, bool with_history, GradEdge own, IValue *out) {
  List *list;
  TRY(list_new(saved->element, saved->count, &list));
  Status status = OK;
  for (size_t i = 0; !status && i < saved->count; i++) {
    Tensor *t;
    status = saved_tensor_unpack(&saved->tensors[i], is_read, with_history,
                                 (GradEdge){own.node, own.output + (uint32_t)i}, &t);
    if (status) break;
    bool none = !tensor_is_defined(t) && saved->element->kind == TYPE_OPTIONAL;
    list->values[list->length++] = none ? IVALUE_NONE : ivalue_tensor(t);
    if (none) tensor_release(t);
  }
  if (status)
    ivalue_release(ivalue_list(list));
  else
    *out = ivalue_list(list);
  return status;
}

Status saved_value_unpack(const SavedValue *saved, bool is_read, bool with_history, GradEdge own, IValue *out) {
  if (saved->kind == SAVED_TENSORS) return unpack_list(saved, is_read, with_history, own, out);
  if (saved->kind != SAVED_TENSOR) {
    *out = ivalue_retain(saved->value);
    return OK;
  }
  Tensor *t;
  TRY(saved_tensor_unpack(&saved->tensors[0], is_read, with_history, own, &t));
  *out = ivalue_tensor(t);
  return OK;
}
