/* String literals: escapes, adjacent ones joined, and f-strings, which become "...{}...".format(...). */
#include "syntax/parser.h"

#include "syntax/parser_state.h"

/* A literal without prefix and quotes. */
typedef struct Literal {
  uint32_t begin, end; /* of the contents, in the lexed text */
  bool raw;
} Literal;

static Literal open_literal(const Parser *p, const Token *token) {
  const char *text = p->lexer.text;
  Literal literal = {.begin = token->begin, .end = token->end};
  for (; text[literal.begin] != '"' && text[literal.begin] != '\''; literal.begin++)
    literal.raw |= (text[literal.begin] | 0x20) == 'r';
  const char *quote = text + literal.begin;
  uint32_t quotes = token->end - literal.begin >= 6 && quote[1] == quote[0] && quote[2] == quote[0] ? 3 : 1;
  literal.begin += quotes;
  literal.end -= quotes;
  return literal;
}

static SourceRange text_range(const Parser *p, uint32_t begin, uint32_t end) {
  Token token = {.begin = begin, .end = end};
  return token_range(&p->lexer, &token);
}

static int hex_value(char c) {
  return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* The code point of exactly `digits` hexadecimal digits at *position. */
static uint32_t hex_escape(const Parser *p, uint32_t *position, uint32_t end, int digits) {
  uint32_t code = 0, i = *position;
  for (int k = 0; k < digits; k++, i++) {
    int value = i < end ? hex_value(p->lexer.text[i]) : -1;
    if (value < 0)
      range_error(p->arena, ERROR_SYNTAX, text_range(p, *position - 2, i), "an escape with too few hexadecimal digits");
    code = code << 4 | (uint32_t)value;
  }
  if (code > 0x10FFFF)
    range_error(p->arena, ERROR_SYNTAX, text_range(p, *position - 2, i), "there is no such character");
  *position = i;
  return code;
}

static void put_code_point(const Parser *p, StrBuf *out, uint32_t code) {
  if (code < 0x100 && (p->flags & PARSE_ARCHIVE)) {
    strbuf_char(out, (char)code);
    return;
  }
  char bytes[4];
  strbuf_append(out, bytes, utf8_encode(code, bytes));
}

/* The escape after the backslash at *position; moves after it. */
static void put_escape(const Parser *p, uint32_t *position, uint32_t end, StrBuf *out) {
  const char *text = p->lexer.text;
  uint32_t i = *position + 1;
  char c = text[i++];
  switch (c) {
    case '\n':
      break;
    case '\r':
      if (i < end && text[i] == '\n') i++;
      break;
    case '\\':
    case '\'':
    case '"':
      strbuf_char(out, c);
      break;
    case 'a':
      strbuf_char(out, '\a');
      break;
    case 'b':
      strbuf_char(out, '\b');
      break;
    case 'f':
      strbuf_char(out, '\f');
      break;
    case 'n':
      strbuf_char(out, '\n');
      break;
    case 'r':
      strbuf_char(out, '\r');
      break;
    case 't':
      strbuf_char(out, '\t');
      break;
    case 'v':
      strbuf_char(out, '\v');
      break;
    case 'x':
      put_code_point(p, out, hex_escape(p, &i, end, 2));
      break;
    case 'u':
      put_code_point(p, out, hex_escape(p, &i, end, 4));
      break;
    case 'U':
      put_code_point(p, out, hex_escape(p, &i, end, 8));
      break;
    case 'N':
      range_error(p->arena, ERROR_SYNTAX, text_range(p, *position, i), "characters by name are not supported");
    case '0' ... '7': {
      uint32_t code = (uint32_t)(c - '0');
      for (int k = 0; k < 2 && i < end && text[i] >= '0' && text[i] <= '7'; k++)
        code = code << 3 | (uint32_t)(text[i++] - '0');
      put_code_point(p, out, code & ((p->flags & PARSE_ARCHIVE) ? 0xFF : 0x1FF));
      break;
    }
    default: /* Python keeps an escape it does not know */
      strbuf_char(out, '\\');
      strbuf_char(out, c);
  }
  *position = i;
}

/* Text up to `end`, or to the first brace that opens an f-string's field. A doubled brace is one. */
static uint32_t put_text(const Parser *p, Literal literal, uint32_t position, bool fields, StrBuf *out) {
  const char *text = p->lexer.text;
  while (position < literal.end) {
    uint32_t plain = position;
    while (plain < literal.end && text[plain] != '\\' && !(fields && (text[plain] == '{' || text[plain] == '}')))
      plain++;
    strbuf_append(out, text + position, plain - position);
    position = plain;
    if (position == literal.end) break;
    if (text[position] == '\\') {
      if (literal.raw || position + 1 == literal.end)
        strbuf_char(out, text[position++]);
      else
        put_escape(p, &position, literal.end, out);
      continue;
    }
    bool doubled = position + 1 < literal.end && text[position + 1] == text[position];
    if (!doubled && text[position] == '{') return position;
    if (!doubled)
      range_error(p->arena, ERROR_SYNTAX, text_range(p, position, position + 1),
                  "f-string: a single '}' is not allowed");
    strbuf_char(out, text[position]);
    position += 2;
  }
  return position;
}

/* Where the expression of a field ends: at its '}', '!', ':' or '=' outside of brackets and strings. */
static uint32_t field_end(const Parser *p, uint32_t begin, uint32_t end) {
  const char *text = p->lexer.text;
  uint32_t depth = 0, i = begin;
  for (; i < end; i++) {
    char c = text[i], after = i + 1 < end ? text[i + 1] : '\0';
    if (c == '"' || c == '\'') {
      for (i++; i < end && text[i] != c; i++) continue;
    } else if (c == '(' || c == '[' || c == '{') {
      depth++;
    } else if (depth && (c == ')' || c == ']' || c == '}')) {
      depth--;
    } else if (!depth && (c == '}' || c == ':' || (c == '!' && after != '='))) {
      break;
    } else if (!depth && (c == '=' || c == '<' || c == '>' || c == '!')) {
      if (after == '=')
        i++;
      else if (c == '=')
        break;
    }
  }
  return i < end ? i : end;
}

/* The pieces of a string of which parts are formatted. */
typedef struct Pieces {
  StrBuf format;
  TreeVec values;
  const char *unsupported;
} Pieces;

/* aten::format knows "{}" alone, so a text that holds it goes in as a value. */
static void put_piece(Parser *p, Pieces *pieces, SourceRange range, StrBuf *text) {
  bool holds_field = false;
  for (size_t i = 0; i + 1 < text->length; i++) holds_field |= text->data[i] == '{' && text->data[i + 1] == '}';
  if (holds_field) {
    Str kept = {arena_strndup(p->arena, text->data, text->length), text->length};
    vec_arena_push(p->arena, &pieces->values, tree_atom(p->arena, TK_STRINGLITERAL, range, kept));
    strbuf_puts(&pieces->format, "{}");
  } else {
    strbuf_str(&pieces->format, strbuf_view(text));
  }
  strbuf_clear(text);
}

static uint32_t put_field(Parser *p, Pieces *pieces, uint32_t position, uint32_t end) {
  uint32_t stop = field_end(p, position + 1, end);
  if (stop == end || !p->lexer.text[stop])
    range_error(p->arena, ERROR_SYNTAX, text_range(p, position, position + 1), "f-string: '}' is missing");
  Parser field = parser_within(p, position + 1, stop);
  if (parser_at(&field, TK_EOF))
    range_error(p->arena, ERROR_SYNTAX, text_range(p, position, stop + 1), "f-string: an expression is missing");
  vec_arena_push(p->arena, &pieces->values, parser_expression_list(&field));
  p->shared = field.shared;
  if (!parser_at(&field, TK_EOF)) parser_fail(&field, "end of the f-string's field");
  strbuf_puts(&pieces->format, "{}");
  char c = p->lexer.text[stop];
  if (c == '}') return stop + 1;
  pieces->unsupported = c == ':'   ? "Don't support formatting in JoinedStr"
                        : c == '!' ? "Don't support conversion in JoinedStr"
                                   : "Don't support '=' in JoinedStr";
  uint32_t depth = 1;
  for (; stop < end; stop++) {
    if (p->lexer.text[stop] == '{') depth++;
    if (p->lexer.text[stop] == '}' && --depth == 0) return stop + 1;
  }
  range_error(p->arena, ERROR_SYNTAX, text_range(p, position, position + 1), "f-string: '}' is missing");
}

typedef struct StringsJob {
  Parser *p;
  StrBuf text;
  Pieces pieces;
  Tree *result;
} StringsJob;

static void join_strings(void *argument) {
  StringsJob *job = argument;
  Parser *p = job->p;
  uint32_t begin = p->current.begin;
  bool bytes = false;
  for (; parser_at(p, TK_STRINGLITERAL) || parser_at(p, TK_FSTRING) || parser_at(p, TK_BYTES); parser_advance(p)) {
    bytes |= parser_at(p, TK_BYTES);
    Literal literal = open_literal(p, &p->current);
    uint32_t position = literal.begin;
    bool fields = parser_at(p, TK_FSTRING);
    SourceRange range = parser_here(p);
    while ((position = put_text(p, literal, position, fields, &job->text)) < literal.end) {
      put_piece(p, &job->pieces, range, &job->text);
      position = put_field(p, &job->pieces, position, literal.end);
    }
  }
  SourceRange range = parser_since(p, begin);
  bool formatted = job->pieces.values.length > 0;
  if (formatted) put_piece(p, &job->pieces, range, &job->text);
  StrBuf *all = formatted ? &job->pieces.format : &job->text;
  if (job->text.failed || all->failed) catch_throw(p->arena->catch_point, status_out_of_memory());
  if (bytes || job->pieces.unsupported) {
    job->result = parser_unsupported(
        p, begin, bytes ? "Unknown Constant expression type: bytes are not supported" : job->pieces.unsupported);
    return;
  }
  Str kept = {all->length ? arena_strndup(p->arena, all->data, all->length) : "", all->length};
  Tree *literal = tree_atom(p->arena, TK_STRINGLITERAL, range, kept);
  job->result = literal;
  if (!formatted) return;
  Tree *method = TREE(p->arena, '.', range, literal, tree_atom(p->arena, TK_IDENT, range, STR("format")));
  job->result = TREE(p->arena, TK_APPLY, range, method,
                     tree_list(p->arena, range, (uint32_t)job->pieces.values.length, job->pieces.values.data),
                     tree_list(p->arena, range, 0, NULL));
}

/* The one part of the parser that holds heap memory, so it stops throws on their way. */
static Tree *join_escaped_strings(Parser *p) {
  StringsJob job = {.p = p};
  Status status = arena_protect(p->arena, join_strings, &job);
  strbuf_dispose(&job.text);
  strbuf_dispose(&job.pieces.format);
  if (status) catch_throw(p->arena->catch_point, status);
  return job.result;
}

Tree *parser_strings(Parser *p) {
  const Token *token = &p->current;
  TokenKind after = p->next.kind;
  if (token->kind == TK_STRINGLITERAL && after != TK_STRINGLITERAL && after != TK_FSTRING && after != TK_BYTES) {
    Literal literal = open_literal(p, token);
    Str text = {p->lexer.text + literal.begin, literal.end - literal.begin};
    if (literal.raw || str_find_char(text, '\\') < 0) {
      Tree *tree = tree_atom(p->arena, TK_STRINGLITERAL, parser_here(p), text);
      parser_advance(p);
      return tree;
    }
  }
  return join_escaped_strings(p);
}
