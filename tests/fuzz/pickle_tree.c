/* See pickle_tree.h. Knows the opcodes that PyTorch and wick write; texts and numbers stay in the pickle's bytes. */
#include "pickle_tree.h"

#include "serial/pickle/pickle_ops.h"

enum { SETITEM = 's', APPEND = 'a', MAX_ITEMS = 1 << 20, MAX_COPIED = 4000, MAX_DEPTH = 200 };

/* ---- trees ---- */

PickleTree *pickle_tree_new(Arena *arena, PickleKind kind) {
  PickleTree *tree = ARENA_NEW(arena, PickleTree);
  tree->kind = kind;
  return tree;
}
PickleTree *pickle_tree_int(Arena *arena, int64_t number) {
  PickleTree *tree = pickle_tree_new(arena, PICKLE_INT);
  tree->number = number;
  return tree;
}
PickleTree *pickle_tree_text(Arena *arena, Str text) {
  PickleTree *tree = pickle_tree_new(arena, PICKLE_TEXT);
  tree->text = (Str){arena_strndup(arena, text.data, text.length), text.length};
  return tree;
}
void pickle_tree_add(Arena *arena, PickleTree *tree, PickleTree *item) {
  vec_arena_push(arena, &tree->items, item);
}

static PickleTree *copy(Arena *arena, const PickleTree *tree, int depth, size_t *left) {
  if (!*left || depth > MAX_DEPTH) return pickle_tree_new(arena, PICKLE_NONE);
  --*left;
  PickleTree *out = pickle_tree_new(arena, tree->kind);
  out->number = tree->number;
  out->real = tree->real;
  out->text = tree->text;
  for (size_t i = 0; i < tree->items.length; i++)
    pickle_tree_add(arena, out, copy(arena, tree->items.data[i], depth + 1, left));
  return out;
}
PickleTree *pickle_tree_copy(Arena *arena, const PickleTree *tree) {
  size_t left = MAX_COPIED;
  return copy(arena, tree, 0, &left);
}

PickleTree *pickle_tree_row(const PickleTree *tree, const char *name) {
  for (size_t i = 0; tree && i < tree->items.length; i++) {
    PickleTree *item = tree->items.data[i];
    if (item->kind == PICKLE_TUPLE && item->items.length == 2 && item->items.data[0]->kind == PICKLE_TEXT &&
        str_is(item->items.data[0]->text, name))
      return item->items.data[1];
  }
  return NULL;
}

static void add_places(Arena *arena, PickleTree *tree, uint32_t visit, PicklePlaces *out) {
  if (tree->visit == visit) return;
  tree->visit = visit;
  for (size_t i = 0; i < tree->items.length; i++) {
    PicklePlace place = {tree, i};
    vec_arena_push(arena, out, place);
    add_places(arena, tree->items.data[i], visit, out);
  }
}
void pickle_tree_places(Arena *arena, PickleTree *tree, PicklePlaces *out) {
  static uint32_t visit;
  add_places(arena, tree, ++visit, out);
}

/* ---- reading ---- */

typedef struct Reader {
  Arena *arena;
  const unsigned char *next, *end;
  VEC(PickleTree *) stack, memo; /* NULL: a mark */
  bool failed;
} Reader;

static const unsigned char *take(Reader *r, size_t length) {
  const unsigned char *at = r->next;
  if (length > (size_t)(r->end - at)) {
    r->failed = true;
    return NULL;
  }
  r->next += length;
  return at;
}
/* Little-endian. */
static uint64_t take_number(Reader *r, int bytes) {
  uint64_t number = 0;
  const unsigned char *at = take(r, (size_t)bytes);
  for (int i = bytes; at && i--;) number = number << 8 | at[i];
  return number;
}
static Str take_line(Reader *r) {
  const unsigned char *begin = r->next, *end = memchr(begin, '\n', (size_t)(r->end - begin));
  r->failed |= !end;
  if (end) r->next = end + 1;
  return (Str){(const char *)begin, end ? (size_t)(end - begin) : 0};
}

static void push(Reader *r, PickleTree *tree) {
  vec_arena_push(r->arena, &r->stack, tree);
}
static PickleTree *push_new(Reader *r, PickleKind kind) {
  push(r, pickle_tree_new(r->arena, kind));
  return vec_last(&r->stack);
}
static void push_int(Reader *r, int64_t number) {
  push_new(r, PICKLE_INT)->number = number;
}
/* The topmost; None where there is none. */
static PickleTree *top(Reader *r) {
  if (r->stack.length && vec_last(&r->stack)) return vec_last(&r->stack);
  r->failed = true;
  return pickle_tree_new(r->arena, PICKLE_NONE);
}
static PickleTree *pop(Reader *r) {
  PickleTree *tree = top(r);
  if (!r->failed) r->stack.length--;
  return tree;
}

/* The topmost `count` become items of the one that stands before them. */
static void add_last(Reader *r, size_t count) {
  if (r->stack.length <= count || !r->stack.data[r->stack.length - count - 1]) {
    r->failed = true;
    return;
  }
  PickleTree *to = r->stack.data[r->stack.length - count - 1];
  for (size_t i = r->stack.length - count; i < r->stack.length; i++) pickle_tree_add(r->arena, to, r->stack.data[i]);
  r->stack.length -= count;
}
static void push_of_last(Reader *r, PickleKind kind, size_t count) {
  PickleTree *tree = pickle_tree_new(r->arena, kind);
  for (size_t i = 0; i < count; i++) pickle_tree_add(r->arena, tree, NULL);
  while (count--) tree->items.data[count] = pop(r);
  push(r, tree);
}
/* How many stand after the last mark, which goes. */
static size_t unmark(Reader *r) {
  size_t at = r->stack.length;
  while (at && r->stack.data[at - 1]) at--;
  if (!at) {
    r->failed = true;
    return 0;
  }
  size_t count = r->stack.length - at;
  memmove(&r->stack.data[at - 1], &r->stack.data[at], count * sizeof *r->stack.data);
  r->stack.length--;
  return count;
}

static void put_memo(Reader *r, uint64_t index) {
  PickleTree *tree = top(r);
  if (index >= MAX_ITEMS) {
    r->failed = true;
    return;
  }
  while (r->memo.length <= index) vec_arena_push(r->arena, &r->memo, NULL);
  r->memo.data[index] = tree;
}
static void get_memo(Reader *r, uint64_t index) {
  if (index < r->memo.length && r->memo.data[index])
    push(r, r->memo.data[index]);
  else
    r->failed = true;
}

static void push_text(Reader *r) {
  size_t length = (size_t)take_number(r, 4);
  const unsigned char *text = take(r, length);
  if (text) push_new(r, PICKLE_TEXT)->text = (Str){(const char *)text, length};
}
static void push_global(Reader *r) {
  Str module = take_line(r), name = take_line(r);
  push_new(r, PICKLE_GLOBAL)->text = (Str){module.data, module.length + 1 + name.length};
}
/* Big-endian. */
static void push_float(Reader *r) {
  uint64_t bits = __builtin_bswap64(take_number(r, 8));
  memcpy(&push_new(r, PICKLE_FLOAT)->real, &bits, sizeof bits);
}
static void push_long(Reader *r) {
  int bytes = (int)take_number(r, 1);
  uint64_t number = take_number(r, bytes);
  if (bytes > 8) r->failed = true;
  push_int(r, !bytes ? 0 : bytes >= 8 ? (int64_t)number : (int64_t)(number << (64 - 8 * bytes)) >> (64 - 8 * bytes));
}

/* false: the pickle ends here, or is not understood. */
static bool read_one(Reader *r) {
  unsigned char op = (unsigned char)take_number(r, 1);
  if (r->failed) return false;
  switch (op) {
    case PROTO:
      take(r, 1);
      break;
    case STOP:
      return false;
    case MARK:
      push(r, NULL);
      break;
    case NONE:
      push_new(r, PICKLE_NONE);
      break;
    case NEWTRUE:
      push_new(r, PICKLE_BOOL)->number = 1;
      break;
    case NEWFALSE:
      push_new(r, PICKLE_BOOL);
      break;
    case BININT:
      push_int(r, (int32_t)take_number(r, 4));
      break;
    case BININT1:
      push_int(r, (int64_t)take_number(r, 1));
      break;
    case BININT2:
      push_int(r, (int64_t)take_number(r, 2));
      break;
    case LONG1:
      push_long(r);
      break;
    case BINFLOAT:
      push_float(r);
      break;
    case BINUNICODE:
      push_text(r);
      break;
    case GLOBAL:
      push_global(r);
      break;
    case EMPTY_TUPLE:
      push_new(r, PICKLE_TUPLE);
      break;
    case EMPTY_LIST:
      push_new(r, PICKLE_LIST);
      break;
    case EMPTY_DICT:
      push_new(r, PICKLE_DICT);
      break;
    case TUPLE3 - 2:
    case TUPLE3 - 1:
    case TUPLE3:
      push_of_last(r, PICKLE_TUPLE, op - TUPLE3 + 3u);
      break;
    case TUPLE:
      push_of_last(r, PICKLE_TUPLE, unmark(r));
      break;
    case APPEND:
      add_last(r, 1);
      break;
    case SETITEM:
      add_last(r, 2);
      break;
    case APPENDS:
    case SETITEMS:
      add_last(r, unmark(r));
      break;
    case BINPUT:
      put_memo(r, take_number(r, 1));
      break;
    case LONG_BINPUT:
      put_memo(r, take_number(r, 4));
      break;
    case BINGET:
      get_memo(r, take_number(r, 1));
      break;
    case LONG_BINGET:
      get_memo(r, take_number(r, 4));
      break;
    case REDUCE:
      push_of_last(r, PICKLE_CALL, 2);
      break;
    case NEWOBJ:
      push_of_last(r, PICKLE_OBJECT, 2);
      break;
    case BUILD:
      push_of_last(r, PICKLE_BUILT, 2);
      break;
    case BINPERSID:
      push_of_last(r, PICKLE_STORAGE, 1);
      break;
    default:
      r->failed = true;
  }
  return !r->failed;
}

PickleTree *pickle_tree_read(Arena *arena, const void *data, size_t length) {
  Reader r = {.arena = arena, .next = data, .end = (const unsigned char *)data + length};
  while (read_one(&r)) {
  }
  return r.failed || r.stack.length != 1 ? NULL : r.stack.data[0];
}

/* ---- writing ---- */

typedef struct Writer {
  StrBuf *out;
  uint32_t memo;
  int depth;
} Writer;

static void write_tree(Writer *w, PickleTree *tree);

static void write_items(Writer *w, const PickleTree *tree) {
  w->depth++;
  for (size_t i = 0; i < tree->items.length; i++) write_tree(w, tree->items.data[i]);
  w->depth--;
}
static void write_marked(Writer *w, const PickleTree *tree, unsigned char op) {
  pickle_op(w->out, MARK);
  write_items(w, tree);
  pickle_op(w->out, op);
}
static void write_long(StrBuf *out, int64_t number) {
  pickle_op(out, LONG1);
  pickle_number(out, 8, 1);
  pickle_number(out, (uint64_t)number, 8);
}
static void write_float(StrBuf *out, double real) {
  uint64_t bits;
  memcpy(&bits, &real, sizeof bits);
  pickle_op(out, BINFLOAT);
  pickle_number(out, __builtin_bswap64(bits), 8);
}
static void write_global(StrBuf *out, Str text) {
  pickle_op(out, GLOBAL);
  strbuf_str(out, text);
  strbuf_char(out, '\n');
}

static void write_new(Writer *w, PickleTree *tree) {
  StrBuf *out = w->out;
  switch (tree->kind) {
    case PICKLE_NONE:
      pickle_op(out, NONE);
      break;
    case PICKLE_BOOL:
      pickle_op(out, tree->number ? NEWTRUE : NEWFALSE);
      break;
    case PICKLE_INT:
      write_long(out, tree->number);
      break;
    case PICKLE_FLOAT:
      write_float(out, tree->real);
      break;
    case PICKLE_TEXT:
      pickle_text(out, tree->text);
      break;
    case PICKLE_GLOBAL:
      write_global(out, tree->text);
      break;
    case PICKLE_TUPLE:
      write_marked(w, tree, TUPLE);
      break;
    case PICKLE_LIST:
      pickle_op(out, EMPTY_LIST);
      write_marked(w, tree, APPENDS);
      break;
    case PICKLE_DICT:
      pickle_op(out, EMPTY_DICT);
      write_marked(w, tree, SETITEMS);
      break;
    default: /* their items and what makes something of them */
      write_items(w, tree);
      pickle_op(out, tree->kind == PICKLE_CALL     ? REDUCE
                     : tree->kind == PICKLE_OBJECT ? NEWOBJ
                     : tree->kind == PICKLE_BUILT  ? BUILD
                                                   : BINPERSID);
  }
}

static void write_tree(Writer *w, PickleTree *tree) {
  if (tree->memo) {
    pickle_get(w->out, tree->memo - 1);
    return;
  }
  if (w->depth > MAX_DEPTH) { /* a list that holds itself */
    pickle_op(w->out, NONE);
    return;
  }
  write_new(w, tree);
  if (!tree->items.length) return;
  tree->memo = ++w->memo;
  pickle_put(w->out, tree->memo - 1);
}

void pickle_tree_write(PickleTree *tree, StrBuf *out) {
  pickle_op(out, PROTO);
  pickle_number(out, 2, 1);
  write_tree(&(Writer){.out = out}, tree);
  pickle_op(out, STOP);
}
