/* Text of values: str(), "{}".format(...), "%d" % x, and print. */
#include <stdio.h>

#include "call/results.h"
#include "call/row_extras.h"

static Status str_of(Call *c) {
  StrBuf out = {0};
  Status status = ivalue_print(c->inputs[0], &out);
  if (status == OK) return result_strbuf(c, 0, &out);
  strbuf_dispose(&out);
  return status;
}

/* Only `{}` is special. */
static Status format_into(const Call *c, StrBuf *out) {
  Str rest = call_str(c, 0);
  for (uint32_t used = 1;; used++) {
    const char *place = rest.length ? memmem(rest.data, rest.length, "{}", 2) : NULL;
    if (!place) break;
    size_t before = (size_t)(place - rest.data);
    strbuf_append(out, rest.data, before);
    if (used >= c->input_count)
      return status_new(ERROR_RUNTIME, "Too few arguments for format string: " STR_FMT, STR_ARG(call_str(c, 0)));
    TRY(ivalue_print(c->inputs[used], out));
    rest = str_slice(rest, before + 2, rest.length);
  }
  strbuf_str(out, rest);
  return OK;
}

static Status format(Call *c) {
  StrBuf out = {0};
  Status status = format_into(c, &out);
  if (status == OK) return result_strbuf(c, 0, &out);
  strbuf_dispose(&out);
  return status;
}

static Status needs_number(char key, IValue v) {
  if (ivalue_is_number(v)) return OK;
  StrBuf type = {0};
  ivalue_print_type(v, &type);
  Status status = status_exception("TypeError", "%%%c requires a number for formatting, but got " STR_FMT, key,
                                   STR_ARG(strbuf_view(&type)));
  strbuf_dispose(&type);
  return status;
}

/* printf's text with the point that the C locale has. */
static void append_float(char key, double value, StrBuf *out) {
  char pattern[] = {'%', '.', '6', key, 0}, text[400];
  snprintf(text, sizeof text, pattern, value);
  for (char *p = text; *p; p++)
    if (*p == ',') *p = '.';
  strbuf_puts(out, text);
}

static bool is_one_character(Str text) {
  size_t count = 0;
  for (size_t i = 0; i < text.length; i++) count += ((uint8_t)text.data[i] & 0xc0) != 0x80; /* not inside of one */
  return count == 1;
}

static Status format_one(char key, IValue v, StrBuf *out) {
  switch (key) {
    case 'd':
    case 'i':
      TRY(needs_number(key, v));
      strbuf_printf(out, "%lld", (long long)ivalue_to_int(v));
      return OK;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
      TRY(needs_number(key, v));
      append_float(key, ivalue_to_double(v), out);
      return OK;
    case 'c':
      if (v.tag == TAG_INT)
        strbuf_char(out, (char)v.i);
      else if (v.tag == TAG_STRING && is_one_character(ivalue_str(v)))
        strbuf_str(out, ivalue_str(v));
      else
        return status_exception("TypeError", "%%c requires an int or char for formatting");
      return OK;
    case 's':
      return ivalue_print(v, out);
    default:
      return status_new(ERROR_RUNTIME, "The specifier %%%c is not supported in TorchScript format strings", key);
  }
}

static Status percent_into(const Call *c, StrBuf *out) {
  Str rest = call_str(c, 0);
  IValue single = c->input_count > 1 ? c->inputs[1] : IVALUE_NONE;
  const IValue *values = single.tag == TAG_TUPLE ? single.tuple->values : &single;
  uint32_t count = c->input_count < 2 ? 0 : single.tag == TAG_TUPLE ? single.tuple->length : 1, used = 0;
  for (ptrdiff_t place; (place = str_find_char(rest, '%')) >= 0;) {
    strbuf_append(out, rest.data, (size_t)place);
    if ((size_t)place + 1 >= rest.length) return status_new(ERROR_RUNTIME, "Incomplete format specifier");
    char key = rest.data[place + 1];
    rest = str_slice(rest, (size_t)place + 2, rest.length);
    if (key == '%') {
      strbuf_char(out, '%');
      continue;
    }
    if (used >= count) return status_new(ERROR_RUNTIME, "Too few arguments for format string");
    TRY(format_one(key, values[used++], out));
  }
  strbuf_str(out, rest);
  return used == count ? OK : status_new(ERROR_RUNTIME, "Too many arguments for format string");
}

static Status percent_format(Call *c) {
  StrBuf out = {0};
  Status status = percent_into(c, &out);
  if (status == OK) return result_strbuf(c, 0, &out);
  strbuf_dispose(&out);
  return status;
}

static Status print(Call *c) {
  StrBuf out = {0};
  Status status = OK;
  for (uint32_t i = 0; i < c->input_count && status == OK; i++) {
    if (i) strbuf_char(&out, ' ');
    status = ivalue_print(c->inputs[i], &out);
  }
  strbuf_char(&out, '\n');
  if (status == OK && out.failed) status = status_out_of_memory();
  if (status == OK) exec_print(c->exec, strbuf_view(&out), stdout);
  strbuf_dispose(&out);
  return status;
}

static Status warn(Call *c) {
  return exec_warn(c->exec, call_str(c, 0));
}

static const OpRow rows[] = {
    ROW_ANY("aten::str(t elem) -> str", str_of),
    ROW_ANY("aten::format(str self, ...) -> str", format, OPEN("Any...")),
    ROW_ANY("aten::percentFormat(str self, ...) -> str", percent_format, OPEN("Any...")),
    {.schema = "prim::Print(...) -> ()", OPEN("Any..."), .kernel = print, .flags = OP_CONTAINER | OP_SIDE_EFFECTS},
    {.schema = "aten::warn(str message, int stacklevel=2) -> ()", .kernel = warn, .flags = OP_SIDE_EFFECTS},
};
OP_TABLE(op_table_format, rows);
