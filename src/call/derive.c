/* Derives the schema text of `name_` and of the `.out` overloads from a functional row's, as PyTorch spells them.
 * Relies on rows being written in PyTorch's canonical spacing. */
#include "call/derive.h"

enum { MAX_PIECES = 64 };

bool schema_text_split(Str text, Str *out_name, Str *out_overload) {
  ptrdiff_t open = str_find_char(text, '(');
  if (open < 0) return false;
  Str head = str_slice(text, 0, (size_t)open);
  ptrdiff_t dot = str_rfind_char(head, '.');
  *out_name = dot < 0 ? head : str_slice(head, 0, (size_t)dot);
  *out_overload = dot < 0 ? STR("") : str_slice(head, (size_t)dot + 1, head.length);
  for (size_t i = 0; i + 2 < out_name->length; i++)
    if (out_name->data[i] == ':' && out_name->data[i + 1] == ':') return i > 0;
  return false;
}

/* "a, b[2], (c, d)" at its top-level commas. */
static size_t split_commas(Str text, Str pieces[MAX_PIECES]) {
  size_t count = 0, begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.length; i++) {
    char c = i < text.length ? text.data[i] : ',';
    if (c == '(' || c == '[') depth++;
    if (c == ')' || c == ']') depth--;
    if (c != ',' || (depth > 0 && i < text.length)) continue;
    while (begin < i && text.data[begin] == ' ') begin++;
    if (begin < i && count < MAX_PIECES) pieces[count++] = str_slice(text, begin, i);
    begin = i + 1;
  }
  return count;
}

/* The text between the outer parentheses after the name, and what follows "-> ". */
static bool split_signature(Str text, Str *out_arguments, Str *out_returns) {
  ptrdiff_t open = str_find_char(text, '(');
  if (open < 0) return false;
  int depth = 0;
  for (size_t i = (size_t)open; i < text.length; i++) {
    if (text.data[i] == '(') depth++;
    if (text.data[i] != ')' || --depth > 0) continue;
    *out_arguments = str_slice(text, (size_t)open + 1, i);
    Str rest = str_slice(text, i + 1, text.length);
    if (!str_starts_with(rest, " -> ")) return false;
    *out_returns = str_slice(rest, 4, rest.length);
    return true;
  }
  return false;
}

/* The argument's name: the last word before a default. */
static Str piece_name(Str piece) {
  ptrdiff_t equals = str_find_char(piece, '=');
  if (equals >= 0) piece = str_slice(piece, 0, (size_t)equals);
  ptrdiff_t blank = str_rfind_char(piece, ' ');
  return blank < 0 ? piece : str_slice(piece, (size_t)blank + 1, piece.length);
}

static ptrdiff_t find_options(const Str *pieces, size_t count) {
  static const char *const options[] = {"dtype", "layout", "device", "pin_memory"};
  for (size_t i = 0; i + 4 <= count; i++) {
    size_t k = 0;
    while (k < 4 && str_is(piece_name(pieces[i + k]), options[k])) k++;
    if (k == 4) return (ptrdiff_t)i;
  }
  return -1;
}

ptrdiff_t derive_dropped_options(Str functional) {
  Str arguments, returns, pieces[MAX_PIECES];
  if (!split_signature(functional, &arguments, &returns)) return -1;
  size_t count = split_commas(arguments, pieces);
  ptrdiff_t at = find_options(pieces, count);
  for (ptrdiff_t i = 0; i < at; i++)
    if (str_is(pieces[i], "*")) return at - 1;
  return at;
}

bool derive_has_form(const OpRow *row, OpVariant variant) {
  if (variant == VARIANT_INPLACE) return row->flags & OP_INPLACE;
  return variant == VARIANT_FUNCTIONAL || row->out || (row->flags & OP_OUT);
}

/* The names of the arguments after those of the overload in `row->out`; NULL: by the rule. */
static const char *known_arguments(const OpRow *row) {
  const char *colon = row->out ? strchr(row->out, ':') : NULL;
  return colon ? colon + 2 : NULL;
}

void derive_out_overload(const OpRow *row, Str overload, Str *out_stem, Str *out_ending) {
  if (row->out) {
    *out_stem = (Str){row->out, strcspn(row->out, ":")};
    *out_ending = STR("");
  } else {
    *out_stem = overload;
    *out_ending = overload.length ? STR("_out") : STR("out");
  }
}

Str derive_inplace_overload(const OpRow *row, Str overload) {
  return row->inplace ? str_from(row->inplace) : overload;
}

/* "Tensor self, ..." with the first argument written: `Tensor(a!) self` or `Tensor(a!)[] self`. */
static bool derive_inplace(const OpRow *row, Str name, Str overload, Str arguments, Str returns, StrBuf *out) {
  bool list = str_starts_with(arguments, "Tensor[] ");
  if (!list && !str_starts_with(arguments, "Tensor ")) return false;
  if (!str_is(returns, list ? "Tensor[]" : "Tensor")) return false;
  strbuf_printf(out, STR_FMT "_", STR_ARG(name));
  overload = derive_inplace_overload(row, overload);
  if (overload.length) strbuf_printf(out, "." STR_FMT, STR_ARG(overload));
  strbuf_printf(out, "(Tensor(a!)" STR_FMT ") -> %s", STR_ARG(str_slice(arguments, 6, arguments.length)),
                list ? "()" : "Tensor(a!)");
  return true;
}

static bool derive_out(const OpRow *row, Str name, Str overload, Str arguments, Str returns, StrBuf *out) {
  Str pieces[MAX_PIECES], results[MAX_PIECES];
  size_t count = split_commas(arguments, pieces);
  bool many = returns.length > 1 && returns.data[0] == '(';
  if (many) returns = str_slice(returns, 1, returns.length - 1);
  size_t result_count = split_commas(returns, results);
  if (result_count == 0 || result_count > CALL_MAX_OUTPUTS) return false;
  for (size_t i = 0; i < result_count; i++)
    if (!str_is(results[i], "Tensor") && !str_starts_with(results[i], "Tensor ") && !str_is(results[i], "Tensor[]"))
      return false;
  bool list = str_is(results[0], "Tensor[]");
  if (list && result_count > 1) return false;

  Str stem, ending;
  const char *out_arguments = known_arguments(row);
  derive_out_overload(row, overload, &stem, &ending);
  strbuf_printf(out, STR_FMT "." STR_FMT STR_FMT "(", STR_ARG(name), STR_ARG(stem), STR_ARG(ending));
  bool named_returns = !str_is(stem, "output") && !(out_arguments && str_starts_with(str_from(out_arguments), "out0"));

  ptrdiff_t options = find_options(pieces, count);
  bool star = false, first = true;
  for (size_t i = 0; i < count; i++) {
    if (options >= 0 && i >= (size_t)options && i < (size_t)options + 4) continue;
    if (str_is(pieces[i], "*")) star = true;
    strbuf_printf(out, "%s" STR_FMT, first ? "" : ", ", STR_ARG(pieces[i]));
    first = false;
  }
  if (!star) strbuf_puts(out, first ? "*" : ", *");
  for (size_t i = 0; i < result_count; i++) {
    strbuf_printf(out, ", Tensor(%c!)%s ", (char)('a' + i), list ? "[]" : "");
    if (out_arguments) {
      size_t length = strcspn(out_arguments, " ");
      strbuf_append(out, out_arguments, length);
      out_arguments += length + (out_arguments[length] == ' ');
    } else if (result_count == 1) {
      strbuf_puts(out, "out");
    } else {
      strbuf_printf(out, "out%zu", i);
    }
  }
  if (list) {
    strbuf_puts(out, ") -> ()");
    return true;
  }
  strbuf_puts(out, many ? ") -> (" : ") -> ");
  for (size_t i = 0; i < result_count; i++) {
    strbuf_printf(out, "%sTensor(%c!)", i ? ", " : "", (char)('a' + i));
    if (named_returns && results[i].length > 6) strbuf_str(out, str_slice(results[i], 6, results[i].length));
  }
  if (many) strbuf_char(out, ')');
  return true;
}

bool derive_schema(const OpRow *row, OpVariant variant, StrBuf *out) {
  Str text = str_from(row->schema), name, overload, arguments, returns;
  if (!schema_text_split(text, &name, &overload) || !split_signature(text, &arguments, &returns)) return false;
  if (variant == VARIANT_INPLACE) return derive_inplace(row, name, overload, arguments, returns, out);
  if (variant == VARIANT_OUT) return derive_out(row, name, overload, arguments, returns, out);
  strbuf_str(out, text);
  return true;
}
