/* Names of kinds, and the keywords by a switch on their first character. */
#include "syntax/token.h"

typedef struct KindRow {
  const char *enumerator, *name, *spelling;
} KindRow;

static const KindRow kind_rows[] = {
#define X(kind, name, spelling) {#kind, name, spelling},
    TOKEN_KINDS(X)
#undef X
};

/* One-character strings for all characters: a character, a NUL, and so on. */
#define C1(c) \
  { (char)(c), 0 }
#define C4(c) C1(c), C1(c + 1), C1(c + 2), C1(c + 3)
#define C16(c) C4(c), C4(c + 4), C4(c + 8), C4(c + 12)
#define C64(c) C16(c), C16(c + 16), C16(c + 32), C16(c + 48)
static const char characters[128][2] = {C64(0), C64(64)};

const char *token_kind_name(TokenKind kind) {
  if (kind > TK_FIRST && kind < TK_COUNT) return kind_rows[kind - TK_FIRST - 1].name;
  return kind >= 0 && kind < 128 ? characters[kind] : "?";
}

const char *token_kind_enumerator(TokenKind kind) {
  if (kind > TK_FIRST && kind < TK_COUNT) return kind_rows[kind - TK_FIRST - 1].enumerator;
  return token_kind_name(kind);
}

/* ORDER keywords: the few with this first character, 0 at the end. */
static const uint16_t *keywords_from(char first) {
#define SET(...)                                    \
  {                                                 \
    static const uint16_t set[] = {__VA_ARGS__, 0}; \
    return set;                                     \
  }
  switch (first) {
    case 'a':
      SET(TK_AND, TK_AS, TK_ASSERT, TK_ASYNC, TK_AWAIT)
    case 'b':
      SET(TK_BREAK)
    case 'c':
      SET(TK_CLASS_DEF, TK_CONTINUE)
    case 'd':
      SET(TK_DEF, TK_DELETE)
    case 'e':
      SET(TK_ELSE, TK_ELIF, TK_EXCEPT)
    case 'f':
      SET(TK_FOR, TK_FROM, TK_FINALLY)
    case 'g':
      SET(TK_GLOBAL)
    case 'i':
      SET(TK_IF, TK_IN, TK_IS, TK_IMPORT)
    case 'l':
      SET(TK_LAMBDA)
    case 'n':
      SET(TK_NOT, TK_NONLOCAL)
    case 'o':
      SET(TK_OR)
    case 'p':
      SET(TK_PASS)
    case 'r':
      SET(TK_RETURN, TK_RAISE)
    case 't':
      SET(TK_TRY)
    case 'w':
      SET(TK_WHILE, TK_WITH)
    case 'y':
      SET(TK_YIELD)
    case 'T':
      SET(TK_TRUE)
    case 'F':
      SET(TK_FALSE)
    case 'N':
      SET(TK_NONE)
    default:
      return NULL;
  }
#undef SET
}

TokenKind token_keyword(Str text) {
  if (text.length < 2 || text.length > 8) return TK_IDENT;
  const uint16_t *set = keywords_from(text.data[0]);
  for (; set && *set; set++) {
    const char *spelling = kind_rows[*set - TK_FIRST - 1].spelling;
    if (spelling[1] == text.data[1] && str_is(text, spelling)) return *set;
  }
  return TK_IDENT;
}
