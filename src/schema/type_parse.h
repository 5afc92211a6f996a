/* Types as schemas and IR text spell them: `Tensor?[]`, `Dict(str, int[])`, `Float(2, 3, strides=[3, 1], device=cpu)`,
 * `NamedTuple(a : int)`, with the alias annotations that schemas put between. Reads from the shared Lexer. */
#pragma once

#include "schema/schema.h"
#include "syntax/lexer.h"

typedef struct TypeParser {
  Lexer lexer;
  Token token, ahead; /* the next two */
  Arena *arena;
  TypeStore *store;
  bool has_aliases; /* a '(' after a type opens an alias annotation */
  /* Finds a class, interface, enum or named tuple by qualified name; NULL result: unknown. resolve NULL: native classes
   * only. */
  const Type *(*resolve)(void *context, Str qualified_name);
  void *context;
} TypeParser;

/* What stands around a type in a schema. */
typedef struct ParsedType {
  const Type *type;
  AliasInfo alias;
  bool has_alias;
  int32_t broadcast_n;
  uint8_t int_kind;
} ParsedType;

/* The text must outlive the parser. Errors throw ERROR_SYNTAX to the arena's catch point. */
void type_parser_init(TypeParser *parser, Arena *arena, TypeStore *store, Str text);
void type_parse(TypeParser *parser, ParsedType *out);

/* ---- tokens ---- */
_Noreturn void type_parser_fail(TypeParser *parser, const char *expected);
void type_parser_advance(TypeParser *parser);
bool type_parser_take(TypeParser *parser, TokenKind kind); /* false: another token, which stays */
void type_parser_expect(TypeParser *parser, TokenKind kind, const char *what);
Str type_parser_name(TypeParser *parser, const char *what); /* an identifier; keywords count */
static inline Str type_parser_text(const TypeParser *parser) {
  return token_text(&parser->lexer, &parser->token);
}

/* A class that the runtime itself provides ("__torch__.torch.classes.rnn.CellParamsBase"): one for each name in the
 * process. An error where there is no memory, or too many were named; then *out is TYPE_ERROR. */
Status type_native_class(Str qualified_name, const Type **out) MUST_CHECK;
