/* Lexer: TorchScript text -> tokens. Indentation becomes TK_INDENT and TK_DEDENT, the end of a statement TK_NEWLINE;
 * inside brackets there are none of them. Errors are thrown to the arena's catch point as ERROR_SYNTAX. */
#pragma once

#include "base/vec.h"
#include "report/source.h"
#include "syntax/token.h"

typedef struct Token {
  TokenKind kind;
  uint32_t begin, end; /* offsets in the lexed text */
  /* The text after `# type:` of the last such comment between the previous token and this one; empty: none. */
  uint32_t comment_begin, comment_end;
} Token;

typedef struct Lexer {
  Arena *arena; /* of the indentation stack, and of its catch point */
  const Source *source;
  const char *text; /* what is lexed: the source's text, or a text that stands for `range` of it */
  uint32_t position, end;
  bool is_foreign; /* text is not the source's: every token's range is `range` */
  SourceRange range;
  bool at_line_start, fragment; /* fragment: as if inside brackets */
  bool newline_due;             /* a last line without a line break still ends in TK_NEWLINE */
  uint32_t pending_dedents;
  VEC(uint32_t) indents; /* widths of the open blocks, the first line's at the bottom */
  VEC(uint32_t) open;    /* where the open brackets are */
} Lexer;

/* The source must outlive the lexer. */
void lexer_init(Lexer *lexer, Arena *arena, const Source *source);
/* Only the bytes [begin, end) of the source, without indentation (an expression within an f-string or comment). */
void lexer_init_fragment(Lexer *lexer, Arena *arena, const Source *source, uint32_t begin, uint32_t end);
/* `text` stands for `range` (a string that holds an annotation); it is lexed without indentation. */
void lexer_init_text(Lexer *lexer, Arena *arena, Str text, SourceRange range);
/* After the end it gives TK_EOF for ever. */
void lexer_next(Lexer *lexer, Token *out);
static inline Str token_text(const Lexer *lexer, const Token *token) {
  return (Str){lexer->text + token->begin, token->end - token->begin};
}
SourceRange token_range(const Lexer *lexer, const Token *token);

/* One token a line, `TK_IDENT text` or the character, for `wick dump --stage tokens`; throws as lexer_next does. */
void lexer_print(Lexer *lexer, StrBuf *out);
