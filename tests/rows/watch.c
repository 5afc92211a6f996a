/* What a call must leave alone: arguments that its schema does not say are written, and memory that its results may not
 * share with them. And what it must tell: that the metadata of a tensor on which a guard relies is another. */
#include "base/stamp.h"
#include "call/row.h"
#include "sample.h"
#include "schema/schema.h"

#include <stdlib.h>

enum { WATCH_MAX = 256 };

typedef struct Watched {
  IValue value; /* retained: tensor or list */
  uint32_t argument;
  /* as they were */
  Storage *storage;
  DType dtype;
  int ndim;
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS], offset;
  uint32_t flags, version;
  uint64_t hash;
  size_t length;
} Watched;

struct Watch {
  const Operator *op;
  Watched items[WATCH_MAX];
  size_t count;
};

static uint64_t hash_bytes(const void *data, size_t n) {
  const unsigned char *bytes = data;
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; i++) h = (h ^ bytes[i]) * 0x100000001b3u;
  return h;
}
static uint64_t storage_hash(const Storage *s) {
  enum { MOST = 1 << 16 };
  return s && s->data ? hash_bytes(s->data, s->bytes < MOST ? s->bytes : MOST) : 0;
}
static uint64_t list_hash(const List *l) {
  size_t item = l->kind == LIST_BOOLS ? sizeof(bool) : l->kind == LIST_VALUES ? sizeof(IValue) : 8;
  return hash_bytes(l->items, l->length * item);
}

static void look(Watched *w) {
  if (w->value.tag == TAG_LIST) {
    w->length = w->value.list->length;
    w->hash = list_hash(w->value.list);
    return;
  }
  const Tensor *t = w->value.tensor;
  w->storage = t->storage;
  w->dtype = (DType)t->dtype;
  w->ndim = t->ndim;
  w->offset = t->offset;
  w->flags = t->flags;
  memcpy(w->sizes, t->sizes, (size_t)t->ndim * sizeof *t->sizes);
  memcpy(w->strides, t->strides, (size_t)t->ndim * sizeof *t->strides);
  w->version = t->storage ? atomic_load(&t->storage->version) : 0;
  w->hash = storage_hash(t->storage);
}
static void watch(Watch *watch_, IValue v, uint32_t argument) {
  if (watch_->count == WATCH_MAX) return;
  if (v.tag == TAG_TENSOR && (!tensor_is_defined(v.tensor) || v.tensor->ndim > SAMPLE_MAX_DIMS)) return;
  if (v.tag != TAG_TENSOR && v.tag != TAG_LIST) return;
  Watched *w = &watch_->items[watch_->count++];
  *w = (Watched){.value = ivalue_retain(v), .argument = argument};
  look(w);
  storage_retain(w->storage); /* so that no other takes its place */
  if (v.tag == TAG_TENSOR) state_rely_on(&v.tensor->is_relied_on);
  for (size_t i = 0; v.tag == TAG_LIST && v.list->kind == LIST_VALUES && i < v.list->length; i++)
    watch(watch_, v.list->values[i], argument);
}

Watch *watch_begin(const Operator *op, const MadeCall *made) {
  Watch *w = calloc(1, sizeof *w);
  w->op = op;
  for (uint32_t i = 0; i < made->count; i++) watch(w, made->inputs[i], i);
  return w;
}

/* ---- afterwards ---- */
static const AliasInfo *alias_of(const Watch *w, uint32_t argument) {
  const FunctionSchema *schema = operator_schema(w->op);
  return argument < schema->argument_count ? schema->arguments[argument].alias : NULL;
}
/* Schemas of PyTorch's hide some writes; rows tell of all but one. */
static bool hides_write(const Operator *op, uint32_t argument) {
  bool renormalizes = str_is(op->name, "aten::_no_grad_embedding_renorm_"); /* dead where nobody reads, as in PyTorch */
  return argument < 5 && (op->row->writes >> argument & 1 || (renormalizes && argument == 0));
}
static bool may_write(const Watch *w, uint32_t argument) {
  const AliasInfo *alias = alias_of(w, argument);
  if (hides_write(w->op, argument)) return true;
  return alias && (alias->is_write || alias->contained_write);
}
/* Some argument that is written shows this storage, or does so now. */
static bool written_elsewhere(const Watch *w, const Storage *storage) {
  for (size_t i = 0; i < w->count; i++) {
    const Watched *item = &w->items[i];
    if (item->value.tag != TAG_TENSOR || !may_write(w, item->argument)) continue;
    if (item->storage == storage || item->value.tensor->storage == storage) return true;
  }
  return false;
}
/* The tensor itself is written too, as another argument. */
static bool same_tensor_is_written(const Watch *w, const Tensor *t) {
  for (size_t i = 0; i < w->count; i++)
    if (w->items[i].value.tag == TAG_TENSOR && w->items[i].value.tensor == t && may_write(w, w->items[i].argument))
      return true;
  return false;
}

static bool has_other_sizes(const Watched *now, const Watched *before) {
  return now->ndim != before->ndim || memcmp(now->sizes, before->sizes, sizeof now->sizes) ||
         memcmp(now->strides, before->strides, sizeof now->strides);
}
/* That of a view says late that it records: guards know (TENSOR_VIEW). */
static bool has_other_flags(const Watched *now, const Watched *before) {
  uint32_t changed = now->flags ^ before->flags;
  if (before->flags & TENSOR_VIEW) changed &= ~(uint32_t)TENSOR_HAS_GRAD_FN;
  return changed;
}

static void check_tensor(const Watch *watch_, const Watched *w, bool succeeded, StrBuf *complaints) {
  const Tensor *t = w->value.tensor;
  Watched now = {.value = w->value};
  look(&now);
  bool writes = may_write(watch_, w->argument) || same_tensor_is_written(watch_, t);
  bool same_memory = writes || written_elsewhere(watch_, w->storage);
  bool looks_other = now.dtype != w->dtype || has_other_sizes(&now, w);
  if (!writes && (looks_other || now.storage != w->storage || now.offset != w->offset))
    strbuf_printf(complaints, "argument %u is another tensor now; ", w->argument);
  if ((looks_other || has_other_flags(&now, w)) && atomic_load(&t->is_relied_on))
    strbuf_printf(complaints, "argument %u looks different, and guards were not told; ", w->argument);
  if (!same_memory && now.hash != w->hash) strbuf_printf(complaints, "argument %u was written; ", w->argument);
  if (!same_memory && now.version != w->version)
    strbuf_printf(complaints, "argument %u has another version; ", w->argument);
  if (succeeded && writes && !hides_write(watch_->op, w->argument) && now.storage == w->storage &&
      now.hash != w->hash && now.version == w->version)
    strbuf_printf(complaints, "argument %u was written and has its old version; ", w->argument);
}
static void check_list(const Watch *watch_, const Watched *w, StrBuf *complaints) {
  if (may_write(watch_, w->argument)) return;
  if (w->value.list->length != w->length || list_hash(w->value.list) != w->hash)
    strbuf_printf(complaints, "list %u was changed; ", w->argument);
}

static uint32_t letters(const AliasInfo *a) {
  return a ? a->before | a->after | a->contained : 0;
}
static bool may_show(const Watch *w, uint32_t output, uint32_t argument) {
  const FunctionSchema *schema = operator_schema(w->op);
  if (operator_may_return_argument(w->op) || output >= schema->return_count) return true;
  uint32_t result = letters(schema->returns[output].alias), input = letters(alias_of(w, argument));
  return (result | input) & ALIAS_WILDCARD || result & input;
}
/* Some argument that shows this memory may be shown by the result. */
static bool may_share(const Watch *w, uint32_t output, const Storage *storage) {
  for (size_t i = 0; i < w->count; i++) {
    const Watched *item = &w->items[i];
    if (item->value.tag != TAG_TENSOR || !may_show(w, output, item->argument)) continue;
    if (item->storage == storage || item->value.tensor->storage == storage) return true;
  }
  return false;
}
static void check_sound(const Tensor *t, uint32_t output, StrBuf *complaints) {
  if (!tensor_is_defined(t) || t->flags & (TENSOR_META | TENSOR_OPAQUE | TENSOR_SPARSE)) return;
  int64_t numel = 1, extent = t->offset + 1;
  for (int d = 0; d < t->ndim; d++) {
    if (!t->sizes[d]) numel = 0;
    extent += t->sizes[d] ? (t->sizes[d] - 1) * t->strides[d] : 0;
  }
  for (int d = 0; d < t->ndim && numel; d++) numel *= t->sizes[d];
  if (t->dtype >= DTYPE_COUNT || numel != t->numel)
    strbuf_printf(complaints, "result %u has dtype %d, %lld elements; ", output, t->dtype, (long long)t->numel);
  else if (numel && (!t->storage || (size_t)extent * dtype_size((DType)t->dtype) > t->storage->bytes))
    strbuf_printf(complaints, "result %u goes beyond its storage; ", output);
}
static void check_result(const Watch *w, IValue v, uint32_t output, StrBuf *complaints) {
  if (v.tag == TAG_TENSOR) check_sound(v.tensor, output, complaints);
  for (size_t i = 0; v.tag == TAG_LIST && v.list->kind == LIST_VALUES && i < v.list->length; i++)
    check_result(w, v.list->values[i], output, complaints);
  const Storage *storage = v.tag == TAG_TENSOR ? v.tensor->storage : NULL;
  if (!storage || may_share(w, output, storage)) return; /* a list itself may come back: PyTorch's schemas hide that */
  for (size_t i = 0; i < w->count; i++)
    if (w->items[i].value.tag == TAG_TENSOR && w->items[i].storage == storage)
      strbuf_printf(complaints, "result %u shares memory with argument %u; ", output, w->items[i].argument);
}

void watch_end(Watch *w, const MadeCall *made, bool succeeded, const IValue *outputs, uint32_t output_count,
               StrBuf *complaints) {
  (void)made;
  for (size_t i = 0; i < w->count; i++) {
    if (w->items[i].value.tag == TAG_LIST)
      check_list(w, &w->items[i], complaints);
    else
      check_tensor(w, &w->items[i], succeeded, complaints);
  }
  for (uint32_t i = 0; succeeded && i < output_count; i++) check_result(w, outputs[i], i, complaints);
  for (size_t i = 0; i < w->count; i++) {
    ivalue_release(w->items[i].value);
    storage_release(w->items[i].storage);
  }
  free(w);
}
