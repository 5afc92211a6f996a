/* Splits the gradient text of rows and compiles it, once for each choice of wanted gradients. */
#include "autodiff/gradient_formula.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>

#include "base/fork.h"
#include "base/heap.h"
#include "call/call_plan.h"
#include "call/row_extras.h"
#include "frontend/frontend.h"
#include "frontend/sugared_value.h"

typedef struct FormulaProgram {
  uint32_t statements;
  Function *function;
  struct FormulaProgram *next;
} FormulaProgram;

static pthread_mutex_t formulas_lock = PTHREAD_MUTEX_INITIALIZER;
static PtrMap formulas;       /* functional Operator -> Formula */
static PtrMap graph_formulas; /* functional Operator -> Formula */

/* ---- reading the text ---- */

static Str trim(Str s) {
  while (s.length && isspace((unsigned char)s.data[0])) s = str_slice(s, 1, s.length);
  while (s.length && isspace((unsigned char)s.data[s.length - 1])) s.length--;
  return s;
}

/* Where the separator next stands outside brackets and strings; the length when nowhere. */
static size_t find_outside(Str text, size_t from, char separator) {
  assert(from <= text.length);
  int depth = 0;
  char quote = 0;
  for (size_t i = from; i < text.length; i++) {
    char c = text.data[i];
    if (quote) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == separator && depth == 0) return i;
    if (c == '"' || c == '\'') quote = c;
    if (c == '(' || c == '[' || c == '{') depth++;
    if (c == ')' || c == ']' || c == '}') depth--;
  }
  return text.length;
}

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static size_t skip_blanks(Str text, size_t at) {
  assert(at <= text.length);
  while (at < text.length && isspace((unsigned char)text.data[at])) at++;
  return at;
}

/* Of every overload but those that write into an `out`; false where there is no such operator. */
static bool reads_metadata(const Operator *op, uint32_t argument) {
  if (!op) return false;
  for (; op; op = atomic_load_explicit(&op->next, memory_order_acquire))
    if (op->variant != VARIANT_OUT && !operator_reads_metadata(op, argument)) return false;
  return true;
}

static const Operator *function_named(Str name) {
  char qualified[64];
  int length = snprintf(qualified, sizeof qualified, "aten::" STR_FMT, STR_ARG(name));
  return length < (int)sizeof qualified ? operator_find(str_from(qualified)) : NULL;
}

/* `self.size(0)`, `self.dtype`: what follows the name asks it. */
static bool is_asked(Str text, size_t end) {
  if (end >= text.length || text.data[end] != '.') return false;
  size_t begin = ++end;
  while (end < text.length && is_word(text.data[end])) end++;
  Str name = str_slice(text, begin, end);
  bool called = end < text.length && text.data[end] == '(';
  return reads_metadata(called ? function_named(name) : property_operator(TYPE_TENSOR, name), 0);
}

/* `torch.zeros_like(self)`, `grad.expand_as(self)`: the name is an argument by position of a call that asks it. */
static bool is_passed_to_ask(Str text, size_t begin, size_t end) {
  end = skip_blanks(text, end);
  if (end == text.length || (text.data[end] != ',' && text.data[end] != ')')) return false;
  uint32_t argument = 0;
  size_t open = begin;
  bool whole = true; /* nothing but blanks so far */
  for (int depth = 0;; open--) {
    if (open == 0) return false;
    char c = text.data[open - 1];
    if (c == '(' && depth == 0) break;
    if (c == ',' && depth == 0)
      argument++, whole = false;
    else if (whole && !isspace((unsigned char)c))
      return false; /* an operand, or an argument by keyword */
    if (c == ')' || c == ']' || c == '}') depth++;
    if ((c == '(' || c == '[' || c == '{') && --depth < 0) return false;
  }
  size_t name = --open;
  while (name > 0 && is_word(text.data[name - 1])) name--;
  bool method = name > 0 && text.data[name - 1] == '.' && !str_ends_with(str_slice(text, 0, name), "torch.");
  return open > name && reads_metadata(function_named(str_slice(text, name, open)), argument + method);
}

static void note_name(const Formula *f, FormulaStatement *s, size_t begin, size_t end) {
  assert(begin < end && end <= s->expression.length);
  Str text = s->expression, name = str_slice(text, begin, end);
  if (str_is(name, "grad")) s->grad = true;
  if (str_is(name, "grads")) s->grads = true;
  if (str_is(name, "result")) s->result = true;
  if (str_is(name, "results")) s->results = true;
  ptrdiff_t at = schema_find_argument(f->schema, name);
  if (at < 0 || at >= CALL_MAX_INPUTS) return;
  bool measured = is_asked(text, end) || is_passed_to_ask(text, begin, end);
  *(measured ? &s->measures : &s->reads) |= (uint64_t)1 << at;
}

static void note_names(const Formula *f, FormulaStatement *s) {
  Str text = s->expression;
  char quote = 0;
  for (size_t i = 0; i < text.length;) {
    char c = text.data[i];
    if (quote || !is_word(c)) {
      if (quote ? c == quote : c == '"' || c == '\'') quote = quote ? 0 : c;
      i++;
      continue;
    }
    size_t begin = i;
    while (i < text.length && is_word(text.data[i])) i++;
    bool attribute = begin > 0 && text.data[begin - 1] == '.';
    bool keyword = i + 1 < text.length && text.data[i] == '=' && text.data[i + 1] != '=';
    if (!attribute && !keyword) note_name(f, s, begin, i);
  }
}

static Status parse_statement(Formula *f, Str text) {
  size_t colon = find_outside(text, 0, ':');
  Str targets = str_slice(text, 0, colon);
  if (colon == text.length || f->count == FORMULA_MAX_STATEMENTS) goto wrong;
  FormulaStatement *s = &f->statements[f->count++];
  s->expression = trim(str_slice(text, colon + 1, text.length));
  for (size_t begin = 0; begin <= targets.length;) {
    size_t end = find_outside(targets, begin, ',');
    ptrdiff_t at = schema_find_argument(f->schema, trim(str_slice(targets, begin, end)));
    if (at < 0 || at >= CALL_MAX_INPUTS || s->target_count == sizeof s->order) goto wrong;
    s->targets |= (uint64_t)1 << at;
    s->order[s->target_count++] = (uint8_t)at;
    begin = end + 1;
  }
  note_names(f, s);
  return OK;
wrong:
  return status_internal(STR_FMT ": its gradient can't be read at '" STR_FMT "'", STR_ARG(f->op->name), STR_ARG(text));
}

static Status formula_new(const Operator *op, const char *formula, Formula **out) {
  Formula *f = mem_calloc(1, sizeof *f);
  if (!f) return status_out_of_memory();
  f->op = op;
  f->schema = operator_schema(op);
  Str text = str_from(formula);
  Status status = OK;
  for (size_t begin = 0; !status && begin < text.length;) {
    size_t end = find_outside(text, begin, ';');
    Str statement = trim(str_slice(text, begin, end));
    if (statement.length) status = parse_statement(f, statement);
    begin = end + 1;
  }
  if (status)
    mem_free(f);
  else
    *out = f;
  return status;
}

/* `known` keeps what became of `text`. */
static Status find_formula(const Operator *functional, const char *text, PtrMap *known, Formula **out) {
  HEAP_SCOPE(NULL);
  *out = NULL;
  if (!text) return OK;
  Status status = OK;
  lock_take(&formulas_lock);
  Formula *f = ptrmap_get(known, functional);
  if (!f) {
    status = formula_new(functional, text, &f);
    if (!status && !ptrmap_put(known, functional, f)) {
      mem_free(f);
      status = status_out_of_memory();
    }
  }
  lock_drop(&formulas_lock);
  if (!status) *out = f;
  return status;
}

Status formula_of(const Operator *functional, Formula **out) {
  return find_formula(functional, functional->row->grad, &formulas, out);
}

Status formula_of_graphs(const Operator *functional, Formula **out) {
  const char *simpler = row_extras(functional->row)->graph_grad;
  return simpler ? find_formula(functional, simpler, &graph_formulas, out) : formula_of(functional, out);
}

FormulaNames formula_names(const Formula *f, uint32_t statements) {
  FormulaNames n = {0};
  for (uint32_t i = 0; i < f->count; i++) {
    const FormulaStatement *s = &f->statements[i];
    if (!(statements >> i & 1)) continue;
    n.reads |= s->reads;
    n.arguments |= s->reads | s->measures;
    n.grad |= s->grad;
    n.grads |= s->grads;
    n.result |= s->result;
    n.results |= s->results;
  }
  return n;
}

/* ---- compiling ---- */

static void put_parameter(StrBuf *text, Str name, const Type *type) {
  assert(text->length > 0);
  if (text->data[text->length - 1] != '(') strbuf_puts(text, ", ");
  strbuf_printf(text, STR_FMT ": ", STR_ARG(name));
  type_print_annotation(type, text);
}

static void write_function(const Formula *f, uint32_t statements, StrBuf *text) {
  FormulaNames names = formula_names(f, statements);
  const Type *result = f->schema->return_count ? f->schema->returns[0].type : TYPE(TENSOR);
  bool list = result->kind == TYPE_LIST;
  strbuf_puts(text, "def gradient(");
  for (uint32_t i = 0; i < f->schema->argument_count && i < CALL_MAX_INPUTS; i++)
    if (names.arguments >> i & 1) put_parameter(text, f->schema->arguments[i].name, f->schema->arguments[i].type);
  if (names.grad) put_parameter(text, STR("grad"), TYPE(TENSOR));
  if (names.grads) strbuf_printf(text, "%sgrads: List[Tensor]", text->data[text->length - 1] == '(' ? "" : ", ");
  if (names.result)
    strbuf_printf(text, "%sresult: %s", text->data[text->length - 1] == '(' ? "" : ", ",
                  list ? "List[Tensor]" : "Tensor");
  if (names.results) strbuf_printf(text, "%sresults: List[Tensor]", text->data[text->length - 1] == '(' ? "" : ", ");
  strbuf_puts(text, "):\n");
  bool several = (statements & (statements - 1)) != 0, first = true;
  strbuf_puts(text, several ? "  return (" : "  return ");
  for (uint32_t i = 0; i < f->count; i++) {
    if (!(statements >> i & 1)) continue;
    strbuf_printf(text, "%s" STR_FMT, first ? "" : ", ", STR_ARG(f->statements[i].expression));
    first = false;
  }
  strbuf_puts(text, several ? ")\n" : "\n");
}

static Function *find_program(const Formula *f, uint32_t statements) {
  for (const FormulaProgram *p = f->programs; p; p = p->next)
    if (p->statements == statements) return p->function;
  return NULL;
}

Status formula_program(Exec *exec, Formula *f, uint32_t statements, Function **out) {
  HEAP_SCOPE(NULL);
  lock_take(&formulas_lock);
  *out = find_program(f, statements);
  lock_drop(&formulas_lock);
  if (*out) return OK;

  StrBuf text = {0};
  write_function(f, statements, &text);
  FormulaProgram *program = mem_calloc(1, sizeof *program);
  Status status = !program || text.failed
                      ? status_out_of_memory()
                      : frontend_compile_helper(exec, strbuf_view(&text), f->op->row->schema, &program->function);
  strbuf_dispose(&text);
  if (status) {
    mem_free(program);
    return status_context(status, "the gradient of " STR_FMT, STR_ARG(f->op->name));
  }
  lock_take(&formulas_lock);
  *out = find_program(f, statements); /* another thread may have been as quick */
  if (!*out) {
    program->statements = statements;
    program->next = f->programs;
    f->programs = program;
    *out = program->function;
    program = NULL;
  }
  lock_drop(&formulas_lock);
  mem_free(program);
  return OK;
}
