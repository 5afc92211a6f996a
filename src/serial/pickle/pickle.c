/* The pickle machine: opcodes of protocols 0 to 4 that data needs, on an explicit stack. What names and calls mean
 * stands in pickle_calls.c. */
#include <assert.h>

#include "base/map.h"
#include "serial/pickle/pickle_globals.h"

static Status bad(const PickleReader *r, const char *what) {
  return status_new(ERROR_DATA, "damaged pickle: %s at byte %zu", what, r->at);
}

static Status take(PickleReader *r, size_t count, const unsigned char **out) {
  assert(r->at <= r->length);
  if (count > r->length - r->at) return bad(r, "it ends early");
  *out = r->data + r->at;
  r->at += count;
  return OK;
}
static Status take_number(PickleReader *r, int bytes, uint64_t *out) {
  const unsigned char *p;
  TRY(take(r, (size_t)bytes, &p));
  *out = 0;
  for (int i = 0; i < bytes; i++) *out |= (uint64_t)p[i] << (8 * i);
  return OK;
}
static Status take_line(PickleReader *r, Str *out) {
  const unsigned char *start = r->data + r->at, *end = memchr(start, '\n', r->length - r->at);
  if (!end) return bad(r, "a line does not end");
  *out = (Str){(const char *)start, (size_t)(end - start)};
  r->at += out->length + 1;
  return OK;
}

/* Takes over the reference. */
static Status push(PickleReader *r, IValue value) {
  if (vec_push(&r->stack, value)) return OK;
  ivalue_release(value);
  return status_out_of_memory();
}
static size_t floor_of(const PickleReader *r) {
  assert(!r->marks.length || vec_last(&r->marks) <= r->stack.length);
  return r->marks.length ? vec_last(&r->marks) : 0;
}
static Status need(const PickleReader *r, size_t count) {
  return r->stack.length - floor_of(r) < count ? bad(r, "the stack is empty") : OK;
}
static IValue *top(PickleReader *r) {
  assert(r->stack.length > 0);
  return &vec_last(&r->stack);
}
static void drop(PickleReader *r, size_t count) {
  assert(count <= r->stack.length);
  while (count--) ivalue_release(vec_pop(&r->stack));
}

/* Where the items above the last mark begin; takes the mark away. */
static Status pop_mark(PickleReader *r, size_t *out_begin) {
  if (!r->marks.length) return bad(r, "there is no mark");
  *out_begin = vec_pop(&r->marks);
  return OK;
}

/* Replaces the items from `begin` on by a tuple of them. */
static Status make_tuple(PickleReader *r, size_t begin) {
  assert(begin <= r->stack.length);
  size_t count = r->stack.length - begin;
  if (count > UINT32_MAX) return bad(r, "a tuple is too long");
  Tuple *tuple;
  TRY(tuple_new((uint32_t)count, NULL, &tuple));
  if (count) memcpy(tuple->values, r->stack.data + begin, count * sizeof(IValue));
  r->stack.length = begin;
  return push(r, ivalue_tuple(tuple));
}

/* Appends the items from `begin` on to the list below them. */
static Status append_items(PickleReader *r, size_t begin) {
  if (begin <= floor_of(r) || begin > r->stack.length) return bad(r, "no list to append to");
  if (r->host->only_storages) return drop(r, r->stack.length - begin), OK;
  IValue target = r->stack.data[begin - 1];
  if (target.tag == TAG_DICT && r->host->keeps_foreign) { /* of a class that is a list */
    drop(r, r->stack.length - begin);
    return OK;
  }
  if (target.tag != TAG_LIST || target.list->kind != LIST_VALUES) return bad(r, "appending to what is no list");
  Status status = list_reserve(target.list, target.list->length + (r->stack.length - begin));
  size_t i = begin;
  while (!status && i < r->stack.length) status = list_append(target.list, r->stack.data[i++]);
  size_t end = r->stack.length;
  r->stack.length = begin;
  for (; i < end; i++) ivalue_release(r->stack.data[i]);
  return status;
}

static Status set_items(PickleReader *r, size_t begin) {
  if (begin <= floor_of(r) || begin > r->stack.length) return bad(r, "no dict to set items of");
  if (r->host->only_storages) return drop(r, r->stack.length - begin), OK;
  IValue target = r->stack.data[begin - 1];
  size_t end = r->stack.length;
  if (target.tag != TAG_DICT) return bad(r, "setting items of what is no dict");
  if ((end - begin) % 2) return bad(r, "a dict key has no value");
  Status status = OK;
  size_t i = begin;
  for (; !status && i < end; i += 2) status = dict_set(target.dict, r->stack.data[i], r->stack.data[i + 1]);
  r->stack.length = begin;
  for (; i < end; i++) ivalue_release(r->stack.data[i]);
  return status;
}

static Status push_list(PickleReader *r) {
  List *list;
  TRY(list_new(TYPE(ANY), 0, &list));
  return push(r, ivalue_list(list));
}
static Status push_dict(PickleReader *r) {
  Dict *dict;
  TRY(dict_new(TYPE(ANY), TYPE(ANY), &dict));
  return push(r, ivalue_dict(dict));
}
static Status push_text(PickleReader *r, uint64_t length) {
  const unsigned char *text;
  if (length > SIZE_MAX) return bad(r, "a text is too long");
  TRY(take(r, (size_t)length, &text));
  IValue value;
  TRY(ivalue_from_str((Str){(const char *)text, (size_t)length}, &value));
  return push(r, value);
}

/* Little-endian two's complement. */
static Status push_long(PickleReader *r, uint64_t bytes) {
  const unsigned char *p;
  if (bytes > r->length) return bad(r, "an integer is too long");
  TRY(take(r, (size_t)bytes, &p));
  bool negative = bytes && (p[bytes - 1] & 0x80);
  uint64_t value = negative ? UINT64_MAX : 0;
  for (size_t i = 0; i < bytes; i++) {
    if (i >= 8) {
      if (p[i] != (negative ? 0xff : 0)) return status_new(ERROR_UNSUPPORTED, "an integer in a pickle exceeds 64 bits");
    } else {
      value = (value & ~((uint64_t)0xff << (8 * i))) | (uint64_t)p[i] << (8 * i);
    }
  }
  if (bytes > 8 && ((int64_t)value < 0) != negative)
    return status_new(ERROR_UNSUPPORTED, "an integer in a pickle exceeds 64 bits");
  return push(r, ivalue_int((int64_t)value));
}
static Status push_float(PickleReader *r) {
  const unsigned char *p;
  TRY(take(r, 8, &p));
  uint64_t bits = 0;
  for (int i = 0; i < 8; i++) bits = bits << 8 | p[i];
  double value;
  memcpy(&value, &bits, sizeof value);
  return push(r, ivalue_float(value));
}

/* Protocol 0's texts of numbers. */
static Status push_line_number(PickleReader *r, bool is_float) {
  Str line;
  int64_t i;
  double f;
  TRY(take_line(r, &line));
  if (is_float) return str_to_double(line, &f) ? push(r, ivalue_float(f)) : bad(r, "a malformed number");
  if (str_is(line, "00") || str_is(line, "01")) return push(r, ivalue_bool(line.data[1] == '1'));
  if (str_ends_with(line, "L")) line.length--;
  return str_to_int64(line, 10, &i) ? push(r, ivalue_int(i)) : bad(r, "a malformed number");
}

static Status put_memo(PickleReader *r, uint64_t index) {
  if (index > r->length) return bad(r, "a memo index is too large");
  TRY(need(r, 1));
  size_t old = r->memo.length;
  if (index >= old) {
    if (!vec_reserve(&r->memo, (size_t)index + 1)) return status_out_of_memory();
    for (size_t i = old; i <= index; i++) r->memo.data[i] = ivalue_uninitialized();
    r->memo.length = (size_t)index + 1;
  }
  IValue value = ivalue_retain(*top(r));
  ivalue_release(r->memo.data[index]);
  r->memo.data[index] = value;
  return OK;
}
/* A second reference to something: what a container needs to come to hold itself. */
static Status push_again(PickleReader *r, IValue value) {
  if (value.tag == TAG_LIST || value.tag == TAG_DICT) {
    if (!vec_push(&r->fetched, value)) return status_out_of_memory();
    ivalue_retain(value);
  }
  return push(r, ivalue_retain(value));
}
static Status get_memo(PickleReader *r, uint64_t index) {
  if (index >= r->memo.length || (r->memo.data[index].tag == TAG_NONE && r->memo.data[index].i == 1))
    return bad(r, "a memo entry that was never made");
  return push_again(r, r->memo.data[index]);
}

/* Puts `value` (taken over) in the place of the `count` topmost items. */
static Status replace(PickleReader *r, size_t count, IValue value) {
  drop(r, count);
  return push(r, value);
}

static Status global(PickleReader *r, Str module, Str name) {
  IValue value;
  TRY(pickle_find_global(r, module, name, &value));
  return push(r, value);
}
static Status stack_global(PickleReader *r) {
  TRY(need(r, 2));
  IValue *names = top(r) - 1, value;
  if (names[0].tag != TAG_STRING || names[1].tag != TAG_STRING) return bad(r, "a global's name is no text");
  TRY(pickle_find_global(r, ivalue_str(names[0]), ivalue_str(names[1]), &value));
  return replace(r, 2, value);
}
static Status reduce(PickleReader *r) {
  TRY(need(r, 2));
  IValue result;
  if (r->host->only_storages) return replace(r, 2, IVALUE_NONE);
  TRY(pickle_call(r, top(r)[-1], top(r)[0], &result));
  return replace(r, 2, result);
}
/* NEWOBJ: a class and its arguments; the object itself is made by BUILD, so that none can hold itself. */
static Status new_object(PickleReader *r) {
  TRY(need(r, 2));
  if (r->host->only_storages) return replace(r, 2, IVALUE_NONE);
  PickleName *class_name = pickle_name(top(r)[-1]), *object;
  if (!class_name || class_name->kind == PICKLE_ORDERED_DICT || class_name->kind == PICKLE_FOREIGN) return reduce(r);
  if (class_name->kind != PICKLE_TORCH_CLASS || class_name->type->kind != TYPE_CLASS)
    return bad(r, "an object of what is no class");
  TRY(pickle_name_new(PICKLE_NEW_OBJECT, &object));
  object->type = class_name->type;
  return replace(r, 2, (IValue){.tag = TAG_CAPSULE, .capsule = &object->base});
}
static Status build(PickleReader *r) {
  TRY(need(r, 2));
  IValue result;
  if (r->host->only_storages) return drop(r, 1), OK;
  TRY(pickle_build(r, top(r)[-1], top(r)[0], &result));
  return replace(r, 2, result);
}
static Status persistent(PickleReader *r) {
  TRY(need(r, 1));
  IValue result;
  TRY(pickle_load_storage(r, *top(r), &result));
  return replace(r, 1, result);
}

/* One opcode; *done at STOP. */
static Status step(PickleReader *r, bool *done) {
  const unsigned char *code;
  uint64_t n;
  size_t begin;
  Str line, line2;
  TRY(take(r, 1, &code));
  switch (*code) {
    case 0x80: /* PROTO */
      TRY(take_number(r, 1, &n));
      return n > 5 ? bad(r, "an unknown protocol") : OK;
    case 0x95: /* FRAME */
      return take_number(r, 8, &n);
    case '.':
      *done = true;
      return need(r, 1);
    case '(':
      return vec_push(&r->marks, r->stack.length) ? OK : status_out_of_memory();
    case '0':
      if (r->stack.length == floor_of(r)) return pop_mark(r, &begin);
      drop(r, 1);
      return OK;
    case '1':
      TRY(pop_mark(r, &begin));
      drop(r, r->stack.length - begin);
      return OK;
    case '2':
      TRY(need(r, 1));
      return push_again(r, *top(r));
    case 'N':
      return push(r, IVALUE_NONE);
    case 0x88:
      return push(r, ivalue_bool(true));
    case 0x89:
      return push(r, ivalue_bool(false));
    case 'I':
    case 'L':
      return push_line_number(r, false);
    case 'F':
      return push_line_number(r, true);
    case 'J':
      TRY(take_number(r, 4, &n));
      return push(r, ivalue_int((int32_t)n));
    case 'K':
      TRY(take_number(r, 1, &n));
      return push(r, ivalue_int((int64_t)n));
    case 'M':
      TRY(take_number(r, 2, &n));
      return push(r, ivalue_int((int64_t)n));
    case 0x8a:
      TRY(take_number(r, 1, &n));
      return push_long(r, n);
    case 0x8b:
      TRY(take_number(r, 4, &n));
      return push_long(r, n);
    case 'G':
      return push_float(r);
    case 'U':
    case 0x8c:
    case 'C':
      TRY(take_number(r, 1, &n));
      return push_text(r, n);
    case 'X':
    case 'T':
    case 'B':
      TRY(take_number(r, 4, &n));
      return push_text(r, n);
    case 0x8d:
    case 0x8e:
      TRY(take_number(r, 8, &n));
      return push_text(r, n);
    case 'V': {
      IValue text;
      TRY(take_line(r, &line));
      TRY(ivalue_from_str(line, &text));
      return push(r, text);
    }
    case ']':
      return push_list(r);
    case '}':
      return push_dict(r);
    case ')':
      return make_tuple(r, r->stack.length);
    case 't':
      TRY(pop_mark(r, &begin));
      return make_tuple(r, begin);
    case 0x85:
    case 0x86:
    case 0x87: /* TUPLE1, TUPLE2, TUPLE3 */
      TRY(need(r, (size_t)(*code - 0x84)));
      return make_tuple(r, r->stack.length - (size_t)(*code - 0x84));
    case 'a':
      return r->stack.length ? append_items(r, r->stack.length - 1) : bad(r, "the stack is empty");
    case 'e':
      TRY(pop_mark(r, &begin));
      return append_items(r, begin);
    case 's':
      return r->stack.length >= 2 ? set_items(r, r->stack.length - 2) : bad(r, "the stack is empty");
    case 'u':
      TRY(pop_mark(r, &begin));
      return set_items(r, begin);
    case 'q':
      TRY(take_number(r, 1, &n));
      return put_memo(r, n);
    case 'r':
      TRY(take_number(r, 4, &n));
      return put_memo(r, n);
    case 0x94:
      return put_memo(r, r->memo.length);
    case 'h':
      TRY(take_number(r, 1, &n));
      return get_memo(r, n);
    case 'j':
      TRY(take_number(r, 4, &n));
      return get_memo(r, n);
    case 'p':
    case 'g': {
      int64_t index;
      TRY(take_line(r, &line));
      if (!str_to_int64(line, 10, &index) || index < 0) return bad(r, "a malformed memo index");
      return *code == 'p' ? put_memo(r, (uint64_t)index) : get_memo(r, (uint64_t)index);
    }
    case 'c':
      TRY(take_line(r, &line));
      TRY(take_line(r, &line2));
      return global(r, line, line2);
    case 0x93:
      return stack_global(r);
    case 'R':
      return reduce(r);
    case 0x81:
      return new_object(r);
    case 'b':
      return build(r);
    case 'Q':
      return persistent(r);
    default:
      r->at--;
      return status_new(ERROR_DATA, "pickle opcode 0x%02x at byte %zu is not one that data needs", *code, r->at);
  }
}

/* ---- cycles: a list or dict that reaches itself would never be freed ---- */

typedef struct Walk {
  IValue value;
  size_t next; /* child to visit */
} Walk;
static bool is_container(IValue v) {
  return v.tag == TAG_DICT || v.tag == TAG_TUPLE || v.tag == TAG_OBJECT ||
         (v.tag == TAG_LIST && v.list->kind == LIST_VALUES);
}
static bool child_of(IValue v, size_t i, IValue *out) {
  switch (v.tag) {
    case TAG_LIST:
      if (i >= v.list->length) return false;
      *out = v.list->values[i];
      return true;
    case TAG_TUPLE:
      if (i >= v.tuple->length) return false;
      *out = v.tuple->values[i];
      return true;
    case TAG_OBJECT:
      if (i >= v.object->slot_count) return false;
      *out = v.object->slots[i];
      return true;
    default:
      if (i / 2 >= v.dict->used) return false;
      *out = i % 2 ? v.dict->entries[i / 2].value : v.dict->entries[i / 2].key;
      return true;
  }
}

/* Depth-first from one root; `seen` holds OPEN while on the path and DONE after. */
static Status find_cycle(IValue root, PtrMap *seen, bool *out_found) {
  static char open, done;
  VEC(Walk) path = {0};
  Status status = OK;
  if (is_container(root) && !ptrmap_has(seen, root.counted)) {
    if (!ptrmap_put(seen, root.counted, &open) || !vec_push(&path, ((Walk){root, 0}))) status = status_out_of_memory();
  }
  while (path.length && !status) {
    Walk *walk = &vec_last(&path);
    IValue child;
    if (!child_of(walk->value, walk->next++, &child)) {
      if (!ptrmap_put(seen, walk->value.counted, &done)) status = status_out_of_memory();
      path.length--;
    } else if (is_container(child)) {
      void *state = ptrmap_get(seen, child.counted);
      if (state == &open) {
        *out_found = true;
        break;
      }
      if (!state && (!ptrmap_put(seen, child.counted, &open) || !vec_push(&path, ((Walk){child, 0}))))
        status = status_out_of_memory();
    }
  }
  vec_dispose(&path);
  return status;
}

static void empty_container(IValue v) {
  if (v.tag == TAG_LIST) list_truncate(v.list, 0);
  if (v.tag == TAG_DICT) dict_clear(v.dict);
}

/* A cycle passes through a list or dict that was used twice. */
static Status refuse_cycles(PickleReader *r) {
  PtrMap seen;
  bool found = false;
  ptrmap_init(&seen, NULL);
  Status status = OK;
  for (size_t i = 0; i < r->fetched.length && !status && !found; i++)
    status = find_cycle(r->fetched.data[i], &seen, &found);
  ptrmap_dispose(&seen);
  if (found || status)
    for (size_t i = 0; i < r->fetched.length; i++) empty_container(r->fetched.data[i]);
  if (found) status = status_new(ERROR_DATA, "a container in the pickle holds itself");
  return status;
}

Status pickle_read(const void *data, size_t length, const PickleHost *host, IValue *out, size_t *out_used) {
  PickleReader reader = {.data = data, .length = length, .host = host};
  if (!size_add(length, 1 << 20, &reader.copies_left)) reader.copies_left = length;
  Status status = OK;
  bool done = false;
  while (!done && !status) status = step(&reader, &done);
  IValue result = IVALUE_NONE;
  if (!status) result = vec_pop(&reader.stack);
  if (reader.fetched.length) {
    Status cycles = refuse_cycles(&reader);
    if (status) {
      status_free(cycles);
    } else {
      status = cycles;
    }
  }
  if (!status && pickle_name(result)) status = bad(&reader, "the result is no value");
  drop(&reader, reader.stack.length);
  for (size_t i = 0; i < reader.memo.length; i++) ivalue_release(reader.memo.data[i]);
  for (size_t i = 0; i < reader.fetched.length; i++) ivalue_release(reader.fetched.data[i]);
  vec_dispose(&reader.fetched);
  vec_dispose(&reader.stack);
  vec_dispose(&reader.marks);
  vec_dispose(&reader.memo);
  if (status) {
    ivalue_release(result);
    return status;
  }
  *out = result;
  if (out_used) *out_used = reader.at;
  return OK;
}
