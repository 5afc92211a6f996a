/* Checking trees that no parser made. A row says for each child what it must be, one letter each:
 *   i ident   e expression   t what can be assigned to   s statement   k an empty tree of a binary operator
 *   d decl   p param   w withitem   a alias   n attribute   u a parameter's marker   b expression or attribute
 *   string literals, starred expressions, slices and dots are expressions: what may stand where, the emitter says
 * and before it * for a list of such, ? for an option of such; from | on children may be missing. */
#include "syntax/grammar.h"

#include "syntax/view.h"

static const struct {
  uint16_t kind;
  const char *children;
} rows[] = {
    {TK_DEF, "id*s|*e"},
    {TK_DECL, "*p?e"},
    {TK_PARAM, "i?e?eu"},
    {TK_CLASS_DEF, "i*b*s*e"},
    {TK_IF, "e*s*s"},
    {TK_WHILE, "e*s"},
    {TK_FOR, "*t*e*s"},
    {TK_WITH, "*w*s"},
    {TK_WITH_ITEM, "e?t"},
    {TK_RETURN, "e"},
    {TK_RAISE, "e"},
    {TK_ASSERT, "e?e"},
    {TK_DELETE, "*t"},
    {TK_ASSIGN, "*t?e?e"},
    {TK_AUG_ASSIGN, "tke"},
    {TK_EXPR_STMT, "e"},
    {TK_IMPORT, "?i*a"},
    {TK_ALIAS, "i?i"},
    {TK_PASS, ""},
    {TK_BREAK, ""},
    {TK_CONTINUE, ""},
    {TK_VAR, "i"},
    {'.', "ei"},
    {TK_APPLY, "e*e*n"},
    {TK_ATTRIBUTE, "ie"},
    {TK_SUBSCRIPT, "e*e"},
    {TK_SLICE_EXPR, "?e?e?e"},
    {TK_STARRED, "e"},
    {TK_IF_EXPR, "eee"},
    {TK_LIST_LITERAL, "*e"},
    {TK_TUPLE_LITERAL, "*e"},
    {TK_DICT_LITERAL, "*e*e"},
    {TK_LIST_COMP, "ete|*e"},
    {TK_DICT_COMP, "eete|*e"},
    {TK_TRUE, ""},
    {TK_FALSE, ""},
    {TK_NONE, ""},
    {TK_DOTS, ""},
    {TK_NOT, "e"},
    {TK_UNARY_MINUS, "e"},
    {'~', "e"},
};
static const int operators[] = {'+', '-', '*',    '/',       '%',       '@',         '&',
                                '|', '^', TK_POW, TK_LSHIFT, TK_RSHIFT, TK_FLOOR_DIV};
static const int comparisons[] = {'<', '>', TK_EQ, TK_NE, TK_LE, TK_GE, TK_AND, TK_OR, TK_IN, TK_IS, TK_ISNOT};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_among(TokenKind kind, const int *kinds, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (kinds[i] == kind) return true;
  return false;
}

/* NULL: no tree of that kind is made of others. */
static const char *children_of(TokenKind kind) {
  for (size_t i = 0; i < COUNT(rows); i++)
    if (rows[i].kind == kind) return rows[i].children;
  return is_among(kind, operators, COUNT(operators)) || is_among(kind, comparisons, COUNT(comparisons)) ? "ee" : NULL;
}

static bool is_statement(TokenKind kind) {
  return kind == TK_DEF || kind == TK_CLASS_DEF || kind == TK_IF || kind == TK_WHILE || kind == TK_FOR ||
         kind == TK_WITH || kind == TK_RETURN || kind == TK_RAISE || kind == TK_ASSERT || kind == TK_DELETE ||
         kind == TK_ASSIGN || kind == TK_AUG_ASSIGN || kind == TK_EXPR_STMT || kind == TK_IMPORT || kind == TK_PASS ||
         kind == TK_BREAK || kind == TK_CONTINUE || kind == TK_UNSUPPORTED;
}
bool tree_is_statement(const Tree *tree) {
  return is_statement(tree->kind);
}
static bool is_part(TokenKind kind) {
  return kind == TK_DECL || kind == TK_PARAM || kind == TK_WITH_ITEM || kind == TK_ALIAS || kind == TK_ATTRIBUTE ||
         kind == TK_IDENT || kind == TK_LIST || kind == TK_OPTION;
}

static bool fits(const Tree *tree, char what) {
  TokenKind kind = tree->kind;
  switch (what) {
    case 'i':
      return kind == TK_IDENT;
    case 'd':
      return kind == TK_DECL;
    case 'p':
      return kind == TK_PARAM;
    case 'w':
      return kind == TK_WITH_ITEM;
    case 'a':
      return kind == TK_ALIAS;
    case 'n':
      return kind == TK_ATTRIBUTE;
    case 'k':
      return is_among(kind, operators, COUNT(operators)) && tree->count == 0;
    case 'u':
      return kind == TK_TRUE || kind == TK_FALSE || ((kind == TK_STARRED || kind == TK_POW) && tree->count == 0);
    case 's':
      return is_statement(kind);
    case 't':
      return kind == TK_VAR || kind == '.' || kind == TK_SUBSCRIPT || kind == TK_TUPLE_LITERAL ||
             kind == TK_LIST_LITERAL || (kind == TK_STARRED && tree->count == 1);
    case 'b':
      if (kind == TK_ATTRIBUTE) return true;
      break;
  }
  bool is_marker = tree->count == 0 && (kind == TK_STARRED || (children_of(kind) && *children_of(kind) == 'e'));
  return (kind == TK_UNSUPPORTED || !is_statement(kind)) && !is_part(kind) && !is_marker;
}

static const char *name_of(char what) {
  switch (what) {
    case 'i':
      return "an ident";
    case 'd':
      return "a decl";
    case 'p':
      return "a param";
    case 'w':
      return "a withitem";
    case 'a':
      return "an alias";
    case 'n':
      return "an attribute";
    case 'k':
      return "an empty tree of a binary operator";
    case 'u':
      return "False, True, or an empty starred or pow operator";
    case 's':
      return "a statement";
    case 't':
      return "an expression that can be assigned to";
    default:
      return "an expression";
  }
}

static const char *child_misfit(Arena *arena, TokenKind kind, uint32_t index, const Tree *child, char form, char what) {
  TokenKind wanted = form == '*' ? TK_LIST : form == '?' ? TK_OPTION : 0;
  bool right = wanted ? child->kind == wanted && !tree_is_atom(child) : fits(child, what);
  for (uint32_t i = 0; wanted && right && i < child->count; i++) right = fits(child->children[i], what);
  if (right) return NULL;
  return arena_printf(arena, "child %u of %s must be %s%s, not %s", index, token_kind_enumerator(kind),
                      form == '*'   ? "a list, each item "
                      : form == '?' ? "an option, empty or of "
                                    : "",
                      name_of(what), token_kind_enumerator(child->kind));
}

const char *grammar_misfit(Arena *arena, TokenKind kind, uint32_t count, Tree *const *children) {
  if (kind == TK_LIST) return NULL; /* what is in them is seen from where they stand */
  if (kind == TK_OPTION) return count <= 1 ? NULL : "an option has one child at most";
  bool may_be_marker = kind == TK_STARRED || is_among(kind, operators, COUNT(operators));
  if (!count && may_be_marker) return NULL;
  const char *form = children_of(kind);
  if (!form) return arena_printf(arena, "%s is no kind of tree with children", token_kind_enumerator(kind));
  uint32_t index = 0;
  bool optional = false;
  for (; *form; form++) {
    if (*form == '|') {
      optional = true;
      continue;
    }
    char shape = *form == '*' || *form == '?' ? *form++ : 0;
    if (index >= count) break;
    const char *misfit = child_misfit(arena, kind, index, children[index], shape, *form);
    if (misfit) return misfit;
    index++;
  }
  bool missing = *form && !optional;
  if (missing || index < count)
    return arena_printf(arena, "%s has %s than %u children", token_kind_enumerator(kind), missing ? "more" : "fewer",
                        count);
  if (kind == TK_DICT_LITERAL && children[0]->count != children[1]->count)
    return "a dict literal has as many keys as values";
  if ((kind == TK_FOR && (children[0]->count != 1 || children[1]->count != 1)) ||
      (kind == TK_ASSIGN && !children[0]->count))
    return arena_printf(arena, "%s: the lists of targets and iterables have one item", token_kind_enumerator(kind));
  return NULL;
}

static bool is_identifier(Str text) {
  bool start = true;
  for (size_t i = 0; i < text.length; i++) {
    unsigned char c = (unsigned char)text.data[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
    if (!letter && (start || !(c >= '0' && c <= '9')) && (start || c != '.')) return false;
    start = c == '.';
  }
  return !start;
}

const char *grammar_atom_misfit(Arena *arena, TokenKind kind, Str text) {
  int64_t whole;
  double number;
  if (text.length > UINT32_MAX / 2) return "the text is too long";
  switch (kind) {
    case TK_IDENT:
      return is_identifier(text) ? NULL : arena_printf(arena, "'" STR_FMT "' is no identifier", STR_ARG(text));
    case TK_CONST:
      return text.length && ((text.data[0] >= '0' && text.data[0] <= '9') || text.data[0] == '.') &&
                     number_parse(text, false, &whole, &number) != NUMBER_OUT_OF_RANGE
                 ? NULL
                 : arena_printf(arena, "'" STR_FMT "' is no number", STR_ARG(text));
    case TK_STRINGLITERAL:
    case TK_UNSUPPORTED:
      return NULL;
    default:
      return arena_printf(arena, "%s is no kind of tree with a text", token_kind_enumerator(kind));
  }
}
