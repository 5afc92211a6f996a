/* Values as text: print() and str() on one hand, constants of graphs on the other. Containers are walked with a stack
 * of their own; depth and length are bounded, so shared and cyclic values end. */
#include "ivalue/print.h"

#include <math.h>

#include "base/work_limit.h"
#include "ivalue/ivalue.h"
#include "type/class_type.h"

enum { MAX_DEPTH = 1000, MAX_TEXT = 1 << 26 };

static bool has_integer(double value) {
  return value >= -0x1p63 && value < 0x1p63 && (double)(int64_t)value == value;
}

uint64_t ivalue_identity(const void *thing) {
  return str_hash((Str){(const char *)&thing, sizeof thing});
}

void print_double(double value, StrBuf *out) {
  if (has_integer(value))
    strbuf_printf(out, "%lld.", (long long)value);
  else if (isnan(value))
    strbuf_puts(out, signbit(value) ? "-nan" : "nan");
  else
    strbuf_double_g(out, value, 17);
}

void print_double_repr(double value, StrBuf *out) {
  if (has_integer(value) && fabs(value) < 1e10)
    strbuf_printf(out, "%s%lld.", value == 0 && signbit(value) ? "-" : "", (long long)value);
  else if (isnan(value))
    strbuf_puts(out, "nan");
  else
    strbuf_double_g(out, value, 17);
}

void print_complex(complex128 value, StrBuf *out) {
  double imaginary = __imag__ value;
  print_double(__real__ value, out);
  strbuf_char(out, imaginary >= 0 ? '+' : '-');
  print_double(fabs(imaginary), out);
  strbuf_char(out, 'j');
}

void print_quoted(Str text, StrBuf *out) {
  static const char names[] = "abtnvfr"; /* of the control characters 7 to 13 */
  strbuf_char(out, '"');
  for (size_t i = 0; i < text.length; i++) {
    unsigned char c = (unsigned char)text.data[i];
    if (c == '\\' || c == '\'' || c == '"')
      strbuf_printf(out, "\\%c", c);
    else if (c >= 7 && c <= 13)
      strbuf_printf(out, "\\%c", names[c - 7]);
    else if (c >= 32 && c < 127)
      strbuf_char(out, (char)c);
    else
      strbuf_printf(out, "\\%03o", c);
  }
  strbuf_char(out, '"');
}

typedef struct Frame {
  IValue container; /* held: other threads do not change it */
  size_t next;
} Frame;
typedef struct Printer {
  StrBuf *out;
  bool repr, is_short; /* is_short: of large tensors the ends alone */
  int64_t done;        /* since the last look at the time */
  VEC(Frame) stack;
} Printer;

static void print_enum(const EnumValue *e, bool repr, StrBuf *out) {
  const EnumType *type = e->type->enum_type;
  Str name = e->type->name;
  ptrdiff_t dot = str_rfind_char(name, '.');
  if (!repr && dot >= 0) name = str_slice(name, (size_t)dot + 1, name.length);
  strbuf_printf(out, repr ? STR_FMT "." STR_FMT : "Enum<" STR_FMT "." STR_FMT ">", STR_ARG(name),
                STR_ARG(type->names[e->index]));
}

static Status print_leaf(Printer *p, IValue v) {
  StrBuf *out = p->out;
  if (work_is_over_after(&p->done, 64)) return work_status();
  switch ((Tag)v.tag) {
    case TAG_NONE:
      strbuf_puts(out, v.i ? "Uninitialized" : "None");
      return OK;
    case TAG_INT:
      strbuf_printf(out, "%lld", (long long)v.i);
      return OK;
    case TAG_FLOAT:
      (p->repr ? print_double_repr : print_double)(v.f, out);
      return OK;
    case TAG_BOOL:
      strbuf_puts(out, v.b ? "True" : "False");
      return OK;
    case TAG_DEVICE:
      device_print(v.device, out);
      return OK;
    case TAG_TENSOR:
      return (p->is_short ? tensor_print_short : tensor_print)(v.tensor, out);
    case TAG_COMPLEX:
      print_complex(v.complex->value, out);
      return OK;
    case TAG_STRING:
      if (p->repr)
        print_quoted(ivalue_str(v), out);
      else
        strbuf_str(out, ivalue_str(v));
      return OK;
    case TAG_ENUM:
      print_enum(v.enum_value, p->repr, out);
      return OK;
    case TAG_OBJECT:
      strbuf_printf(out, "<" STR_FMT " object at 0x%012llx>", STR_ARG(v.object->class_type->type.name),
                    (unsigned long long)ivalue_identity(v.object) >> 16); /* as wide as addresses are */
      return OK;
    case TAG_FUNCTION:
      strbuf_puts(out, "Function");
      return OK;
    case TAG_FUTURE:
      strbuf_puts(out, "Future");
      return OK;
    case TAG_GENERATOR:
      strbuf_puts(out, "Generator");
      return OK;
    case TAG_STORAGE:
      strbuf_puts(out, "Storage");
      return OK;
    case TAG_CAPSULE:
      strbuf_puts(out, "Capsule");
      return OK;
    default:
      return OK;
  }
}

/* Element types that members show by themselves need no annotation in front of them. */
static bool shows_in_members(const Type *type) {
  return type->kind != TYPE_UNION && type->kind != TYPE_OPTIONAL && type->kind != TYPE_INTERFACE &&
         type->kind != TYPE_ANY;
}

static bool needs_annotation(IValue v) {
  if (v.tag == TAG_LIST) return !v.list->length || !shows_in_members(v.list->element);
  return v.tag == TAG_DICT &&
         (!v.dict->live || !shows_in_members(v.dict->key_type) || !shows_in_members(v.dict->value_type));
}

void ivalue_print_type(IValue v, StrBuf *out) {
  TypeStore store;
  Status status = type_store_init(&store, NULL);
  if (status)
    out->failed = true;
  else
    type_print_annotation(ivalue_type(v, &store), out);
  status_free(status);
  type_store_dispose(&store);
}

static void open_container(Printer *p, IValue v) {
  if (p->repr && needs_annotation(v)) {
    strbuf_puts(p->out, "annotate(");
    ivalue_print_type(v, p->out);
    strbuf_puts(p->out, ", ");
  }
  strbuf_char(p->out, v.tag == TAG_LIST ? '[' : v.tag == TAG_DICT ? '{' : '(');
}

static void close_container(Printer *p, IValue v) {
  if (v.tag == TAG_TUPLE && v.tuple->length == 1) strbuf_char(p->out, ',');
  strbuf_char(p->out, v.tag == TAG_LIST ? ']' : v.tag == TAG_DICT ? '}' : ')');
  if (p->repr && needs_annotation(v)) strbuf_char(p->out, ')');
}

static Status begin(Printer *p, IValue v) {
  if (v.tag != TAG_LIST && v.tag != TAG_DICT && v.tag != TAG_TUPLE) return print_leaf(p, v);
  if (p->stack.length >= MAX_DEPTH) {
    strbuf_puts(p->out, "...");
    return OK;
  }
  Frame frame = {v, 0};
  TRY(ivalue_hold(v, &frame.container));
  if (!vec_push(&p->stack, frame)) {
    ivalue_release(frame.container);
    return status_out_of_memory();
  }
  open_container(p, frame.container);
  return OK;
}

/* Prints the next member of the top frame, or closes it. */
static Status step(Printer *p) {
  Frame *frame = &vec_last(&p->stack);
  IValue container = frame->container, member;
  size_t position = frame->next++;
  if (container.tag == TAG_LIST && position < container.list->length) {
    if (position) strbuf_puts(p->out, ", ");
    if (container.list->kind == LIST_VALUES) return begin(p, container.list->values[position]);
    return print_leaf(p, list_get(container.list, position));
  }
  if (container.tag == TAG_TUPLE && position < container.tuple->length) {
    if (position) strbuf_puts(p->out, ", ");
    return begin(p, container.tuple->values[position]);
  }
  if (container.tag == TAG_DICT) { /* entry number doubled: even at the key, odd at the value */
    while (position / 2 < container.dict->used && !container.dict->entries[position / 2].live)
      frame->next = (position += 2) + 1;
    if (position / 2 < container.dict->used) {
      DictEntry *entry = &container.dict->entries[position / 2];
      if (position & 1)
        strbuf_puts(p->out, ": ");
      else if (entry != dict_next(container.dict, NULL))
        strbuf_puts(p->out, ", ");
      member = position & 1 ? entry->value : entry->key;
      return begin(p, member);
    }
  }
  close_container(p, container);
  ivalue_release(vec_pop(&p->stack).container);
  return OK;
}

static Status print_value(IValue v, bool repr, bool is_short, StrBuf *out) {
  Printer p = {.out = out, .repr = repr, .is_short = is_short};
  size_t limit = out->max_length;
  if (!limit) out->max_length = out->length + MAX_TEXT;
  Status status = begin(&p, v);
  while (status == OK && p.stack.length && !out->truncated) status = step(&p);
  while (p.stack.length) ivalue_release(vec_pop(&p.stack).container);
  vec_dispose(&p.stack);
  if (!limit) {
    out->max_length = 0;
    if (status == OK && out->truncated)
      status = status_new(ERROR_BUDGET, "a value's text is longer than %d bytes", MAX_TEXT);
    out->truncated = false;
  }
  return status;
}

Status ivalue_print(IValue v, StrBuf *out) {
  return print_value(v, false, false, out);
}
Status ivalue_print_repr(IValue v, StrBuf *out) {
  return print_value(v, true, false, out);
}
Status ivalue_print_short(IValue v, StrBuf *out) {
  return print_value(v, false, true, out);
}
