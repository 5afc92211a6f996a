/* Dicts: one kernel for each operator serves the six key types. */
#include <assert.h>

#include "call/results.h"
#include "call/row.h"

static Status key_error(IValue key) {
  StrBuf text = {0};
  Status status = ivalue_print(key, &text);
  if (status == OK) status = status_exception("KeyError", STR_FMT, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

static Dict *dict_at(const Call *c, uint32_t i) {
  assert(i < c->input_count && c->inputs[i].tag == TAG_DICT);
  return c->inputs[i].dict;
}

/* ---- one entry ---- */

static Status get_item(Call *c) {
  IValue value;
  bool found;
  TRY(dict_get(dict_at(c, 0), c->inputs[1], &value, &found));
  if (!found) return key_error(c->inputs[1]);
  call_set(c, 0, value);
  return OK;
}

static Status get(Call *c) {
  IValue value = IVALUE_NONE;
  bool found;
  TRY(dict_get(dict_at(c, 0), c->inputs[1], &value, &found));
  if (!found && c->input_count > 2) value = ivalue_retain(c->inputs[2]);
  call_set(c, 0, value);
  return OK;
}

static Status set_item(Call *c) {
  return dict_set(dict_at(c, 0), ivalue_retain(c->inputs[1]), ivalue_retain(c->inputs[2]));
}

static Status set_default(Call *c) {
  IValue value;
  bool found;
  TRY(dict_get(dict_at(c, 0), c->inputs[1], &value, &found));
  if (!found) {
    value = ivalue_retain(c->inputs[2]);
    TRY(dict_set(dict_at(c, 0), ivalue_retain(c->inputs[1]), ivalue_retain(c->inputs[2])));
  }
  call_set(c, 0, value);
  return OK;
}

static Status contains(Call *c) {
  bool found;
  TRY(dict_get(dict_at(c, 0), c->inputs[1], NULL, &found));
  return result_bool(c, 0, found);
}

static Status delete_item(Call *c) {
  bool found;
  TRY(dict_remove(dict_at(c, 0), c->inputs[1], NULL, &found));
  return found ? OK : key_error(c->inputs[1]);
}

static Status pop(Call *c) {
  IValue value;
  bool found;
  TRY(dict_remove(dict_at(c, 0), c->inputs[1], &value, &found));
  if (found)
    call_set(c, 0, value);
  else if (c->input_count > 2)
    return result_value(c, 0, c->inputs[2]);
  else
    return key_error(c->inputs[1]);
  return OK;
}

static Status pair(IValue key, IValue value, IValue *out) {
  Tuple *tuple;
  Status status = tuple_new(2, NULL, &tuple);
  if (status != OK) {
    ivalue_release(key);
    ivalue_release(value);
    return status;
  }
  tuple->values[0] = key;
  tuple->values[1] = value;
  *out = ivalue_tuple(tuple);
  return OK;
}

/* TorchScript takes the oldest entry, not the newest. */
static Status pop_item(Call *c) {
  IValue key, value, out;
  if (!dict_pop_first(dict_at(c, 0), &key, &value))
    return status_exception("KeyError", "popitem(): dictionary is empty");
  TRY(pair(key, value, &out));
  call_set(c, 0, out);
  return OK;
}

/* ---- all entries: read from a copy when other threads may write ---- */

typedef enum What { KEYS, VALUES, ITEMS } What;

static Status append_entries(List *out, const Dict *d, What what) {
  for (DictEntry *e = dict_next(d, NULL); e; e = dict_next(d, e)) {
    IValue item = ivalue_retain(what == VALUES ? e->value : e->key);
    if (what == ITEMS) TRY(pair(item, ivalue_retain(e->value), &item));
    TRY(list_append(out, item));
  }
  return OK;
}

static Status entries(Call *c) {
  What what = (What)call_param(c);
  Dict *d;
  TRY(dict_hold(dict_at(c, 0), &d));
  const Type *element = what == VALUES ? d->value_type : d->key_type;
  if (what == ITEMS) element = type_tuple(type_store_process(), 2, (const Type *const[]){d->key_type, d->value_type});
  List *out;
  Status status = list_new(element, d->live, &out);
  if (status == OK) {
    status = append_entries(out, d, what);
    if (status == OK)
      call_set(c, 0, ivalue_list(out));
    else
      ivalue_release(ivalue_list(out));
  }
  ivalue_release(ivalue_dict(d));
  return status;
}

static Status length(Call *c) {
  return result_int(c, 0, (int64_t)dict_length(dict_at(c, 0)));
}

static Status clear(Call *c) {
  dict_clear(dict_at(c, 0));
  return OK;
}

static Status copy(Call *c) {
  Dict *out;
  TRY(dict_copy(dict_at(c, 0), &out));
  call_set(c, 0, ivalue_dict(out));
  return OK;
}

static Status update(Call *c) {
  Dict *from;
  if (dict_at(c, 0) == dict_at(c, 1)) return OK;
  TRY(dict_hold(dict_at(c, 1), &from));
  Status status = OK;
  for (DictEntry *e = dict_next(from, NULL); e && status == OK; e = dict_next(from, e))
    status = dict_set(dict_at(c, 0), ivalue_retain(e->key), ivalue_retain(e->value));
  ivalue_release(ivalue_dict(from));
  return status;
}

static Status from_pairs(Call *c) {
  const List *pairs = call_list(c, 0);
  const Type *element = pairs->element;
  bool known = element->kind == TYPE_TUPLE && element->count == 2;
  Dict *out;
  TRY(dict_new(known ? element->elements[0] : TYPE(ANY), known ? element->elements[1] : TYPE(ANY), &out));
  Status status = OK;
  for (size_t i = 0; i < pairs->length && status == OK; i++) {
    IValue item = list_get(pairs, i);
    if (item.tag == TAG_TUPLE && item.tuple->length == 2)
      status = dict_set(out, ivalue_retain(item.tuple->values[0]), ivalue_retain(item.tuple->values[1]));
    else
      status = status_exception("TypeError", "dict() needs pairs of a key and a value");
    ivalue_release(item);
  }
  if (status == OK)
    call_set(c, 0, ivalue_dict(out));
  else
    ivalue_release(ivalue_dict(out));
  return status;
}

static Status empty(Call *c) {
  Dict *out;
  TRY(dict_new(TYPE(STRING), TYPE(TENSOR), &out));
  call_set(c, 0, ivalue_dict(out));
  return OK;
}

#define ROWS(K)                                                                                                      \
  ROW_ANY("aten::len.Dict_" K "(Dict(" K ", t) self) -> int", length),                                               \
      ROW_ANY("aten::keys." K "(Dict(" K ", t) self) -> " K "[](*)", entries, .param = KEYS),                        \
      ROW_ANY("aten::values." K "(Dict(" K ", t) self) -> t[](*)", entries, .param = VALUES),                        \
      ROW_ANY("aten::items." K "(Dict(" K ", t) self) -> ((" K ", t)[])", entries, .param = ITEMS),                  \
      ROW_ANY("aten::__getitem__.Dict_" K "(Dict(" K ", t) self, " K " key) -> t(*)", get_item),                     \
      ROW_ANY("aten::get." K "(Dict(" K ", t) self, " K " key) -> t(*)?", get),                                      \
      ROW_ANY("aten::get.default_" K "(Dict(" K ", t) self, " K " key, t default_value) -> t(*)", get),              \
      ROW_ANY("aten::setdefault." K "(Dict(" K ", t)(a!) self, " K "(b -> *) key, t(c -> *) default_value) -> t(*)", \
              set_default),                                                                                          \
      ROW_ANY("aten::Delete.Dict_" K "(Dict(" K ", t)(a!) self, " K " key) -> ()", delete_item),                     \
      ROW_ANY("aten::pop.Dict_" K "(Dict(" K ", t)(a!) self, " K " key) -> t(*)", pop),                              \
      ROW_ANY("aten::pop.Dict_default_" K "(Dict(" K ", t)(a!) self, " K " key, t default_value) -> t(*)", pop),     \
      ROW_ANY("aten::popitem." K "(Dict(" K ", t)(a!) self) -> ((" K ", t))", pop_item),                             \
      ROW_ANY("aten::clear." K "(Dict(" K ", t)(a!) self) -> ()", clear),                                            \
      ROW_ANY("aten::update." K "(Dict(" K ", t)(a!) self, Dict(" K ", t)(a!) to_add) -> ()", update),               \
      ROW_ANY("aten::copy.Dict_" K "(Dict(" K ", t)(a) self) -> Dict(" K ", t)", copy),                              \
      ROW_ANY("aten::__contains__." K "(Dict(" K ", t) dict, " K " key) -> bool", contains),                         \
      ROW_ANY("aten::_set_item." K "(Dict(" K ", t)(a!) l, " K "(b -> *) idx, t(c -> *) v) -> ()", set_item),        \
      ROW_ANY("aten::dict." K "((" K ", tVal)[] inputs) -> Dict(" K ", tVal)", from_pairs),                          \
      ROW_ANY("aten::dict.Dict_" K "(Dict(" K ", t)(a) self) -> Dict(" K ", t)", copy),

static const OpRow rows[] = {ROW("aten::dict() -> Dict(str, Tensor)", empty),
                             ROWS("str") ROWS("int") ROWS("bool") ROWS("float") ROWS("complex") ROWS("Tensor")};
OP_TABLE(op_table_dict, rows);
