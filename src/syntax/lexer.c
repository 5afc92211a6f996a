/* The lexer proper: one pass over the bytes, by a table of character classes. */
#include "syntax/lexer.h"

#include <assert.h>

#include "syntax/tree.h"

enum { CLASS_NAME = 1, CLASS_DIGIT = 2, CLASS_HEX = 4, CLASS_BLANK = 8 };

static const uint8_t char_class[256] = {
    [' '] = CLASS_BLANK,
    ['\t'] = CLASS_BLANK,
    ['\r'] = CLASS_BLANK,
    ['\f'] = CLASS_BLANK,
    ['0' ... '9'] = CLASS_NAME | CLASS_DIGIT | CLASS_HEX,
    ['a' ... 'f'] = CLASS_NAME | CLASS_HEX,
    ['g' ... 'z'] = CLASS_NAME,
    ['A' ... 'F'] = CLASS_NAME | CLASS_HEX,
    ['G' ... 'Z'] = CLASS_NAME,
    ['_'] = CLASS_NAME,
    [0x80 ... 0xFF] = CLASS_NAME,
};
static bool is_class(char c, int class) {
  return char_class[(unsigned char)c] & class;
}

/* ---- beginnings ---- */

static uint32_t indentation_at(const Lexer *lexer, uint32_t *position) {
  uint32_t width = 0, i = *position;
  for (; i < lexer->end && is_class(lexer->text[i], CLASS_BLANK); i++) {
    if (lexer->text[i] == ' ') width++;
    if (lexer->text[i] == '\t') width = (width / 8 + 1) * 8;
    if (lexer->text[i] == '\f') width = 0;
  }
  *position = i;
  return width;
}

void lexer_init(Lexer *lexer, Arena *arena, const Source *source) {
  *lexer = (Lexer){.arena = arena, .source = source, .text = source->text, .end = (uint32_t)source->length};
  lexer->at_line_start = true;
  if (lexer->end >= 3 && memcmp(lexer->text, "\xEF\xBB\xBF", 3) == 0) lexer->position = 3; /* byte order mark */
  /* The first line that holds anything sets what counts as no indentation. */
  uint32_t i = lexer->position, base = 0;
  while (i < lexer->end) {
    uint32_t width = indentation_at(lexer, &i);
    if (i < lexer->end && lexer->text[i] != '\n' && lexer->text[i] != '#') {
      base = width;
      break;
    }
    while (i < lexer->end && lexer->text[i] != '\n') i++;
    i++;
  }
  vec_arena_push(arena, &lexer->indents, base);
}

void lexer_init_fragment(Lexer *lexer, Arena *arena, const Source *source, uint32_t begin, uint32_t end) {
  assert(begin <= end && end <= source->length);
  *lexer = (Lexer){.arena = arena, .source = source, .text = source->text, .position = begin, .end = end};
  lexer->fragment = true;
}

void lexer_init_text(Lexer *lexer, Arena *arena, Str text, SourceRange range) {
  *lexer = (Lexer){.arena = arena, .source = range.source, .text = text.data, .end = (uint32_t)text.length};
  lexer->fragment = lexer->is_foreign = true;
  lexer->range = range;
}

SourceRange token_range(const Lexer *lexer, const Token *token) {
  return lexer->is_foreign ? lexer->range : (SourceRange){lexer->source, token->begin, token->end};
}

static _Noreturn void fail(const Lexer *lexer, uint32_t begin, uint32_t end, const char *message) {
  Token token = {.begin = begin, .end = end};
  range_error(lexer->arena, ERROR_SYNTAX, token_range(lexer, &token), "%s", message);
}

/* ---- between tokens ---- */

/* A comment up to the end of its line; notes it when it is a type comment. */
static uint32_t skip_comment(const Lexer *lexer, uint32_t position, Token *token) {
  assert(lexer->text[position] == '#');
  const char *text = lexer->text, *newline = memchr(text + position, '\n', lexer->end - position);
  uint32_t end = newline ? (uint32_t)(newline - text) : lexer->end, i = position + 1;
  while (i < end && text[i] == ' ') i++;
  if (end - i > 5 && memcmp(text + i, "type:", 5) == 0) {
    i += 5;
    while (i < end && is_class(text[i], CLASS_BLANK)) i++;
    if (end - i < 6 || memcmp(text + i, "ignore", 6) != 0) {
      token->comment_begin = i;
      token->comment_end = end;
    }
  }
  return end;
}

/* Blanks, comments, joined lines and, inside brackets, line breaks. */
static void skip_blanks(Lexer *lexer, Token *token) {
  const char *text = lexer->text;
  uint32_t i = lexer->position, end = lexer->end;
  bool breaks_are_blank = lexer->fragment || lexer->open.length;
  while (i < end) {
    if (is_class(text[i], CLASS_BLANK) || (text[i] == '\n' && breaks_are_blank)) {
      i++;
    } else if (text[i] == '#') {
      i = skip_comment(lexer, i, token);
    } else if (text[i] == '\\' && i + 1 < end && text[i + 1] == '\n') {
      i += 2;
    } else if (text[i] == '\\' && i + 2 < end && text[i + 1] == '\r' && text[i + 2] == '\n') {
      i += 3;
    } else {
      break;
    }
  }
  lexer->position = i;
}

static void set_token(Lexer *lexer, Token *token, TokenKind kind, uint32_t begin, uint32_t end) {
  assert(begin <= end && end <= lexer->end);
  token->kind = kind;
  token->begin = begin;
  token->end = lexer->position = end;
}

/* At the start of a line: passes empty lines, then compares indentation. True when that made a token. */
static bool lex_indentation(Lexer *lexer, Token *token) {
  uint32_t i = lexer->position, width = 0;
  for (;;) {
    width = indentation_at(lexer, &i);
    if (i < lexer->end && lexer->text[i] == '#') i = skip_comment(lexer, i, token);
    if (i >= lexer->end || lexer->text[i] != '\n') break;
    i++;
  }
  lexer->position = i;
  if (i >= lexer->end) return false; /* the end closes all blocks */
  lexer->at_line_start = false;
  if (width > vec_last(&lexer->indents)) {
    vec_arena_push(lexer->arena, &lexer->indents, width);
    set_token(lexer, token, TK_INDENT, i, i);
    return true;
  }
  uint32_t closed = 0;
  while (lexer->indents.length > 1 && width < vec_last(&lexer->indents)) {
    (void)vec_pop(&lexer->indents);
    closed++;
  }
  if (width != vec_last(&lexer->indents)) fail(lexer, i, i + 1, "unindent does not match any outer indentation level");
  if (!closed) return false;
  lexer->pending_dedents = closed - 1;
  set_token(lexer, token, TK_DEDENT, i, i);
  return true;
}

static void lex_end(Lexer *lexer, Token *token) {
  if (lexer->open.length) {
    uint32_t at = vec_last(&lexer->open);
    fail(lexer, at, at + 1, "this bracket was never closed");
  }
  TokenKind kind = TK_EOF;
  if (lexer->newline_due) {
    kind = TK_NEWLINE;
    lexer->newline_due = false;
  } else if (lexer->indents.length > 1) {
    kind = TK_DEDENT;
    lexer->indents.length--;
  }
  lexer->at_line_start = false;
  set_token(lexer, token, kind, lexer->end, lexer->end);
}

/* ---- literals ---- */

/* Digits of a class with single underscores between them. */
static uint32_t skip_digits(const Lexer *lexer, uint32_t i, int class) {
  const char *text = lexer->text;
  while (i < lexer->end && (is_class(text[i], class) || (text[i] == '_' && i + 1 < lexer->end &&
                                                         is_class(text[i + 1], class) && text[i - 1] != '_')))
    i++;
  return i;
}

static uint32_t skip_number(const Lexer *lexer, uint32_t begin) {
  const char *text = lexer->text;
  uint32_t end = lexer->end, i = begin;
  char base = begin + 1 < end && text[begin] == '0' ? text[begin + 1] | 0x20 : 0;
  if (base == 'x' || base == 'o' || base == 'b') {
    i = skip_digits(lexer, begin + 2, base == 'x' ? CLASS_HEX : CLASS_DIGIT);
    char above = base == 'o' ? '7' : '1';
    for (uint32_t k = begin + 2; base != 'x' && k < i; k++)
      if (text[k] != '_' && text[k] > above) fail(lexer, begin, i, "invalid digit in a number");
    if (i == begin + 2) fail(lexer, begin, i, "a number without digits");
  } else {
    uint32_t whole = i = skip_digits(lexer, begin, CLASS_DIGIT);
    if (i < end && text[i] == '.') i = skip_digits(lexer, i + 1, CLASS_DIGIT);
    if (i < end && (text[i] | 0x20) == 'e') {
      uint32_t k = i + 1;
      if (k < end && (text[k] == '+' || text[k] == '-')) k++;
      if (k < end && is_class(text[k], CLASS_DIGIT)) i = skip_digits(lexer, k, CLASS_DIGIT);
    }
    bool imaginary = i < end && (text[i] | 0x20) == 'j';
    if (imaginary) i++;
    bool zeros = true;
    for (uint32_t k = begin; k < whole; k++) zeros &= text[k] == '0' || text[k] == '_';
    if (i == whole && !zeros && text[begin] == '0')
      fail(lexer, begin, i, "leading zeros in an integer are not allowed; an octal number begins with 0o");
  }
  if (i < end && is_class(text[i], CLASS_NAME)) fail(lexer, begin, i + 1, "invalid number");
  return i;
}

/* From the opening quote to after the closing one. */
static uint32_t skip_string(const Lexer *lexer, uint32_t begin, uint32_t quote_at) {
  const char *text = lexer->text;
  uint32_t end = lexer->end, i = quote_at;
  char quote = text[i];
  bool triple = end - i >= 3 && text[i + 1] == quote && text[i + 2] == quote;
  for (i += triple ? 3 : 1; i < end; i++) {
    if (text[i] == '\\') {
      i++;
    } else if (text[i] == '\n' && !triple) {
      break;
    } else if (text[i] == quote) {
      if (!triple) return i + 1;
      if (end - i >= 3 && text[i + 1] == quote && text[i + 2] == quote) return i + 3;
    }
  }
  fail(lexer, begin, quote_at + (triple ? 3 : 1), "this string is never closed");
}

/* The kind of string that these prefix letters open; 0: they are no prefix. */
static TokenKind string_kind(Str prefix) {
  bool raw = false, bytes = false, formatted = false, unicode = false;
  if (prefix.length > 2) return 0;
  for (size_t i = 0; i < prefix.length; i++) {
    switch (prefix.data[i] | 0x20) {
      case 'r':
        raw = true;
        break;
      case 'b':
        bytes = true;
        break;
      case 'f':
        formatted = true;
        break;
      case 'u':
        unicode = true;
        break;
      default:
        return 0;
    }
  }
  if ((size_t)(raw + bytes + formatted + unicode) != prefix.length || bytes + formatted + unicode > 1 ||
      (unicode && raw))
    return 0;
  return bytes ? TK_BYTES : formatted ? TK_FSTRING : TK_STRINGLITERAL;
}

static void lex_name(Lexer *lexer, Token *token) {
  const char *text = lexer->text;
  uint32_t begin = lexer->position, end = lexer->end, i = begin;
  unsigned char seen = 0;
  for (; i < end && is_class(text[i], CLASS_NAME); i++) seen |= (unsigned char)text[i];
  Str name = {text + begin, i - begin};
  if (i < end && (text[i] == '"' || text[i] == '\'')) {
    TokenKind kind = string_kind(name);
    if (kind) {
      set_token(lexer, token, kind, begin, skip_string(lexer, begin, i));
      return;
    }
  }
  if (seen & 0x80) {
    for (size_t at = 0; at < name.length;) {
      uint32_t code = utf8_next(name, &at);
      if (code == 0xFFFD || (code >= 0x80 && code < 0xAA) || (code >= 0x2000 && code < 0x2070))
        fail(lexer, begin, i, "invalid character in a name");
    }
    set_token(lexer, token, TK_IDENT, begin, i);
    return;
  }
  set_token(lexer, token, token_keyword(name), begin, i);
}

/* ---- operators ---- */

/* The kind of the operator at position, its length in *length. 0: no operator. */
static TokenKind operator_kind(const Lexer *lexer, uint32_t *length) {
  const char *p = lexer->text + lexer->position;
  uint32_t left = lexer->end - lexer->position;
  char a = p[0], b = left > 1 ? p[1] : '\0', c = left > 2 ? p[2] : '\0';
#define LONG(n, kind) return *length = (n), (kind)
  switch (a) {
    case '(':
    case ')':
    case '[':
    case ']':
    case '{':
    case '}':
    case ',':
    case ';':
    case '~':
    case '?':
    case '$':
      LONG(1, a);
    case ':':
      if (b == '=') LONG(2, TK_WALRUS);
      LONG(1, a);
    case '.':
      if (b == '.' && c == '.') LONG(3, TK_DOTS);
      LONG(1, a);
    case '+':
      if (b == '=') LONG(2, TK_PLUS_EQ);
      LONG(1, a);
    case '-':
      if (b == '=') LONG(2, TK_MINUS_EQ);
      if (b == '>') LONG(2, TK_ARROW);
      LONG(1, a);
    case '%':
      if (b == '=') LONG(2, TK_MOD_EQ);
      LONG(1, a);
    case '@':
      if (b == '=') LONG(2, TK_MATMUL_EQ);
      LONG(1, a);
    case '|':
      if (b == '=') LONG(2, TK_BIT_OR_EQ);
      LONG(1, a);
    case '&':
      if (b == '=') LONG(2, TK_BIT_AND_EQ);
      LONG(1, a);
    case '^':
      if (b == '=') LONG(2, TK_BIT_XOR_EQ);
      LONG(1, a);
    case '=':
      if (b == '=') LONG(2, TK_EQ);
      LONG(1, a);
    case '!':
      if (b == '=') LONG(2, TK_NE);
      LONG(1, a);
    case '*':
      if (b == '*' && c == '=') LONG(3, TK_POW_EQ);
      if (b == '*') LONG(2, TK_POW);
      if (b == '=') LONG(2, TK_TIMES_EQ);
      LONG(1, a);
    case '/':
      if (b == '/' && c == '=') LONG(3, TK_FLOOR_DIV_EQ);
      if (b == '/') LONG(2, TK_FLOOR_DIV);
      if (b == '=') LONG(2, TK_DIV_EQ);
      LONG(1, a);
    case '<':
      if (b == '<' && c == '=') LONG(3, TK_LSHIFT_EQ);
      if (b == '<') LONG(2, TK_LSHIFT);
      if (b == '=') LONG(2, TK_LE);
      LONG(1, a);
    case '>':
      if (b == '>' && c == '=') LONG(3, TK_RSHIFT_EQ);
      if (b == '>') LONG(2, TK_RSHIFT);
      if (b == '=') LONG(2, TK_GE);
      LONG(1, a);
    default:
      return 0;
  }
#undef LONG
}

static void track_brackets(Lexer *lexer, TokenKind kind, uint32_t at) {
  if (kind == '(' || kind == '[' || kind == '{') {
    vec_arena_push(lexer->arena, &lexer->open, at);
  } else if ((kind == ')' || kind == ']' || kind == '}') && lexer->open.length) {
    char opener = lexer->text[vec_last(&lexer->open)];
    if (kind != (opener == '(' ? ')' : opener + 2))
      fail(lexer, at, at + 1, "this closing bracket does not match the one that is open");
    lexer->open.length--;
  }
}

void lexer_next(Lexer *lexer, Token *token) {
  token->comment_begin = token->comment_end = 0;
  if (lexer->pending_dedents) {
    lexer->pending_dedents--;
    set_token(lexer, token, TK_DEDENT, lexer->position, lexer->position);
    return;
  }
  if (lexer->at_line_start && lex_indentation(lexer, token)) return;
  skip_blanks(lexer, token);
  uint32_t begin = lexer->position;
  if (begin >= lexer->end) {
    lex_end(lexer, token);
    return;
  }
  const char *text = lexer->text;
  char c = text[begin];
  if (c == '\n') {
    lexer->at_line_start = true;
    lexer->newline_due = false;
    set_token(lexer, token, TK_NEWLINE, begin, begin + 1);
    return;
  }
  lexer->newline_due = !lexer->fragment;
  if (is_class(c, CLASS_DIGIT) || (c == '.' && begin + 1 < lexer->end && is_class(text[begin + 1], CLASS_DIGIT))) {
    set_token(lexer, token, TK_NUMBER, begin, skip_number(lexer, begin));
  } else if (is_class(c, CLASS_NAME)) {
    lex_name(lexer, token);
  } else if (c == '"' || c == '\'') {
    set_token(lexer, token, TK_STRINGLITERAL, begin, skip_string(lexer, begin, begin));
  } else {
    uint32_t length = 0;
    TokenKind kind = operator_kind(lexer, &length);
    if (!kind) fail(lexer, begin, begin + 1, c == '\0' ? "a NUL byte in the text" : "unexpected character");
    track_brackets(lexer, kind, begin);
    set_token(lexer, token, kind, begin, begin + length);
  }
}

void lexer_print(Lexer *lexer, StrBuf *out) {
  Token token;
  do {
    lexer_next(lexer, &token);
    if (token.comment_end > token.comment_begin) {
      strbuf_puts(out, "TK_TYPE_COMMENT ");
      strbuf_append(out, lexer->text + token.comment_begin, token.comment_end - token.comment_begin);
      strbuf_char(out, '\n');
    }
    strbuf_puts(out, token_kind_enumerator(token.kind));
    if (token.kind == TK_IDENT || token.kind == TK_NUMBER || token.kind == TK_STRINGLITERAL || token.kind == TK_BYTES ||
        token.kind == TK_FSTRING) {
      strbuf_char(out, ' ');
      strbuf_str(out, token_text(lexer, &token));
    }
    strbuf_char(out, '\n');
  } while (token.kind != TK_EOF);
}
