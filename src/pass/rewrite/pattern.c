/* Patterns read from text, by recursive descent. */
#include "pass/rewrite/pattern.h"

#include <assert.h>
#include <ctype.h>

void pattern_room_init(PatternRoom *room, Arena *arena, uint32_t terms, uint32_t indices, uint32_t kinds) {
  *room = (PatternRoom){.terms = ARENA_ARRAY(arena, Term, terms + 1),
                        .indices = ARENA_ARRAY(arena, uint16_t, indices + 1),
                        .kinds = ARENA_ARRAY(arena, Symbol, kinds + 1),
                        .term_room = terms,
                        .index_room = indices,
                        .kind_room = kinds};
}

enum { MOST_INPUTS = 16 };

typedef struct Reader {
  const char *at;
  PatternRoom *room;
  Pattern *out;
} Reader;

static Term *own_terms(const Reader *r) {
  return r->room->terms + (r->out->terms - r->room->terms);
}

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

static bool read_term(Reader *r, uint16_t *out);

/* A list of terms, put into the room when it is whole: lists within it come first. */
static bool read_list(Reader *r, uint16_t *indices, uint16_t *count, bool *has_rest) {
  do {
    if (has_rest && take(r, "...")) return *has_rest = true;
    if (*count == MOST_INPUTS || !read_term(r, &indices[(*count)++])) return false;
  } while (take(r, ","));
  return true;
}
static bool keep_list(Reader *r, const uint16_t *indices, uint16_t count, uint32_t *out) {
  if (r->room->index_count + count > r->room->index_room) return false;
  *out = r->room->index_count;
  memcpy(r->room->indices + *out, indices, count * sizeof *indices);
  r->room->index_count += count;
  return true;
}

static bool read_inputs(Reader *r, Term *term) {
  uint16_t inputs[MOST_INPUTS];
  if (!take(r, "(")) return false;
  if (take(r, ")")) return true;
  if (!read_list(r, inputs, &term->input_count, &term->has_rest) || !take(r, ")")) return false;
  for (uint32_t i = 0; i < term->input_count; i++) own_terms(r)[inputs[i]].uses++;
  return keep_list(r, inputs, term->input_count, &term->inputs);
}

static bool read_kinds(Reader *r, Term *term) {
  term->kinds = r->room->kind_count;
  do {
    skip_spaces(r);
    size_t length = 0;
    while (isalnum((unsigned char)r->at[length]) || r->at[length] == '_' || r->at[length] == ':') length++;
    Symbol kind = symbol_intern((Str){r->at, length});
    if (r->room->kind_count == r->room->kind_room || kind == SYMBOL_NONE) return false;
    r->room->kinds[r->room->kind_count++] = kind;
    term->kind_count++;
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

/* Which outputs: kind(...) has one; kind[i](...) is any, kind[1](...) the second. */
static bool read_outputs(Reader *r, Term *term) {
  term->outputs = 1;
  if (!take(r, "[")) return true;
  term->outputs = OUTPUTS_ANY;
  if (isdigit((unsigned char)*r->at))
    term->offset = (uint16_t)(*r->at++ - '0');
  else if (!take(r, "i"))
    return false;
  else
    term->each_output = true;
  return take(r, "]");
}

static bool read_node(Reader *r, Term *term) {
  term->form = TERM_NODE;
  if (take(r, "*")) {
    term->any_kind = term->has_rest = true;
    return read_outputs(r, term) && term->each_output;
  }
  return read_kinds(r, term) && read_outputs(r, term) && read_inputs(r, term) && (!take(r, ":") || read_type(r, term));
}

/* A letter that was read before is the same value. */
static bool read_value(Reader *r, Term *term, uint16_t *out) {
  if (!islower((unsigned char)*r->at)) return false;
  term->letter = *r->at++;
  uint16_t *known = &r->out->letters[term->letter - 'a'];
  if (*known != NO_TERM) {
    r->room->term_count--, r->out->count--;
    *out = *known;
    return true;
  }
  *known = *out;
  if (take(r, ":")) return read_type(r, term);
  return !take(r, "=") || read_node(r, term);
}

static bool read_number(Reader *r, Term *term) {
  term->form = TERM_INT;
  term->number = (int8_t)(*r->at++ - '0');
  if (take(r, ".")) term->form = TERM_NUMBER;
  return true;
}

static bool read_word(Reader *r, Term *term) {
  bool is_true = take(r, "True");
  if (is_true || take(r, "False")) {
    term->form = TERM_BOOL;
    term->number = is_true;
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

static bool read_term(Reader *r, uint16_t *out) {
  if (r->room->term_count == r->room->term_room) return false;
  *out = r->out->count++;
  Term *term = &r->room->terms[r->room->term_count++];
  *term = (Term){.type = TERM_ANY_TYPE};
  skip_spaces(r);
  if (take(r, "%")) return read_value(r, term, out);
  return isdigit((unsigned char)*r->at) ? read_number(r, term) : read_word(r, term);
}

bool pattern_parse(const char *text, PatternRoom *room, Pattern *out) {
  Reader r = {text, room, out};
  uint16_t outputs[MOST_INPUTS];
  *out = (Pattern){.terms = room->terms + room->term_count, .indices = room->indices, .kinds = room->kinds};
  for (int i = 0; i < 26; i++) out->letters[i] = NO_TERM;
  if (!read_list(&r, outputs, &out->output_count, NULL)) return false;
  for (uint32_t i = 0; i < out->output_count; i++) own_terms(&r)[outputs[i]].leaves = true;
  out->end = outputs[0];
  out->is_tree = out->output_count == 1;
  skip_spaces(&r);
  return !*r.at && keep_list(&r, outputs, out->output_count, &out->outputs);
}
