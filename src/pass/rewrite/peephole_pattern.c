/* Reading and matching of patterns: a recursive descent over each. */
#include "pass/rewrite/peephole_pattern.h"

#include <ctype.h>

#include "pass/rewrite/rewrite.h"

/* ---- reading ---- */

typedef struct Reader {
  const char *at;
  Pattern *out;
} Reader;

static void skip_spaces(Reader *r) {
  while (*r->at == ' ') r->at++;
}
static bool take(Reader *r, const char *word) {
  skip_spaces(r);
  size_t length = strlen(word);
  if (strncmp(r->at, word, length) != 0) return false;
  r->at += length;
  return true;
}

static bool read_term(Reader *r, uint8_t *out);

static bool read_inputs(Reader *r, Term *term) {
  if (!take(r, "(")) return false;
  if (take(r, ")")) return true;
  do {
    if (take(r, "...")) {
      term->has_rest = true;
      break;
    }
    if (term->input_count == PATTERN_MOST_INPUTS || !read_term(r, &term->inputs[term->input_count++])) return false;
  } while (take(r, ","));
  return take(r, ")");
}

static bool read_kinds(Reader *r, Term *term) {
  do {
    skip_spaces(r);
    size_t length = 0;
    while (isalnum((unsigned char)r->at[length]) || r->at[length] == '_' || r->at[length] == ':') length++;
    Symbol kind = symbol_intern((Str){r->at, length});
    if (term->kind_count == PATTERN_MOST_KINDS || kind == SYMBOL_NONE) return false;
    term->kinds[term->kind_count++] = kind;
    r->at += length;
  } while (take(r, "|"));
  return true;
}

static bool read_type(Reader *r, Term *term) {
  static const struct {
    const char *name;
    TypeKind kind;
  } types[] = {{"int", TYPE_INT}, {"float", TYPE_FLOAT}, {"bool", TYPE_BOOL}, {"Tensor", TYPE_TENSOR}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (!take(r, types[i].name)) continue;
    term->type = (uint8_t)types[i].kind;
    return true;
  }
  return false;
}

static bool read_node(Reader *r, Term *term) {
  term->form = TERM_NODE;
  if (take(r, "*")) {
    term->any_kind = term->has_rest = true;
    return term->each_output = take(r, "[i]");
  }
  if (!read_kinds(r, term)) return false;
  term->each_output = take(r, "[i]");
  return read_inputs(r, term);
}

static bool read_value(Reader *r, Term *term) {
  if (!islower((unsigned char)*r->at)) return false;
  term->letter = *r->at++;
  if (take(r, ":")) return read_type(r, term);
  return !take(r, "=") || read_node(r, term);
}

static bool read_number(Reader *r, Term *term) {
  term->form = TERM_INT;
  term->number = (int8_t)(*r->at++ - '0');
  if (take(r, ".")) term->form = TERM_NUMBER;
  return true;
}

static bool read_term(Reader *r, uint8_t *out) {
  Pattern *pattern = r->out;
  if (pattern->count == PATTERN_MOST_TERMS) return false;
  *out = pattern->count++;
  Term *term = &pattern->terms[*out];
  *term = (Term){.type = PATTERN_ANY_TYPE};
  skip_spaces(r);
  if (take(r, "%")) return read_value(r, term);
  if (isdigit((unsigned char)*r->at)) return read_number(r, term);
  bool is_true = take(r, "True");
  if (is_true || take(r, "False")) {
    *term = (Term){.form = TERM_BOOL, .type = PATTERN_ANY_TYPE, .number = is_true};
    return true;
  }
  if (take(r, "None")) {
    term->form = TERM_NONE;
    return true;
  }
  if (take(r, "itself")) {
    term->form = TERM_ITSELF;
    return read_inputs(r, term);
  }
  return read_node(r, term);
}

bool pattern_parse(const char *text, Pattern *out) {
  Reader r = {text, out};
  uint8_t first;
  out->count = 0;
  if (!read_term(&r, &first)) return false;
  skip_spaces(&r);
  return !*r.at;
}

/* ---- matching ---- */

static bool is_of_kind(const Term *term, const Node *node) {
  if (term->any_kind) return true;
  for (uint32_t i = 0; i < term->kind_count; i++)
    if (term->kinds[i] == node->kind) return true;
  return false;
}

static bool match_value(const Pattern *pattern, const Term *term, Value *value, PeepholeMatch *m);

static bool match_node(const Pattern *pattern, const Term *term, const Node *node, PeepholeMatch *m) {
  if (!is_of_kind(term, node)) return false;
  if (term->has_rest ? node->input_count < term->input_count : node->input_count != term->input_count) return false;
  for (uint32_t i = 0; i < term->input_count; i++)
    if (!match_value(pattern, &pattern->terms[term->inputs[i]], node_input(node, i), m)) return false;
  return true;
}

static bool match_value(const Pattern *pattern, const Term *term, Value *value, PeepholeMatch *m) {
  int64_t i;
  double number;
  if (term->letter) m->values[term->letter - 'a'] = value;
  switch ((TermForm)term->form) {
    case TERM_VALUE:
      return term->type == PATTERN_ANY_TYPE || (uint8_t)value->type->kind == term->type;
    case TERM_NODE:
      return value->node->output_count == 1 && match_node(pattern, term, value->node, m);
    case TERM_INT:
      return value->type->kind == TYPE_INT && constant_int(value, &i) && i == term->number;
    case TERM_NUMBER:
      return constant_double(value, &number) && number == term->number;
    default:
      return false; /* of replacements */
  }
}

bool pattern_match(const Pattern *pattern, Node *node, uint32_t output, PeepholeMatch *m) {
  const Term *end = &pattern->terms[0];
  assert(end->form == TERM_NODE);
  m->node = node;
  m->output = output;
  return (end->each_output || node->output_count == 1) && match_node(pattern, end, node, m);
}
