/* The kinds of tokens, which are the kinds of trees too. A single character such as '+' is its own kind; all others are
 * rows of this table: name, how s-expressions and messages call it, and its spelling ("" where it has no fixed one). */
#pragma once

#include "base/str.h"

#define TOKEN_KINDS(X)                               \
  X(TK_EOF, "end of file", "")                       \
  X(TK_NEWLINE, "newline", "")                       \
  X(TK_INDENT, "indent", "")                         \
  X(TK_DEDENT, "dedent", "")                         \
  X(TK_IDENT, "ident", "")                           \
  X(TK_NUMBER, "number", "")                         \
  X(TK_STRINGLITERAL, "string_literal", "")          \
  X(TK_FSTRING, "f-string", "")                      \
  X(TK_BYTES, "bytes literal", "")                   \
  X(TK_TYPE_COMMENT, "type comment", "# type:")      \
  /* operators of several characters */              \
  X(TK_EQ, "eq", "==")                               \
  X(TK_NE, "ne", "!=")                               \
  X(TK_LE, "le", "<=")                               \
  X(TK_GE, "ge", ">=")                               \
  X(TK_LSHIFT, "<<", "<<")                           \
  X(TK_RSHIFT, ">>", ">>")                           \
  X(TK_FLOOR_DIV, "floordiv", "//")                  \
  X(TK_POW, "pow operator", "**")                    \
  X(TK_ARROW, "arrow", "->")                         \
  X(TK_DOTS, "dots", "...")                          \
  X(TK_WALRUS, ":=", ":=")                           \
  X(TK_PLUS_EQ, "+=", "+=")                          \
  X(TK_MINUS_EQ, "-=", "-=")                         \
  X(TK_TIMES_EQ, "*=", "*=")                         \
  X(TK_DIV_EQ, "/=", "/=")                           \
  X(TK_MOD_EQ, "%=", "%=")                           \
  X(TK_MATMUL_EQ, "@=", "@=")                        \
  X(TK_BIT_OR_EQ, "|=", "|=")                        \
  X(TK_BIT_AND_EQ, "&=", "&=")                       \
  X(TK_BIT_XOR_EQ, "^=", "^=")                       \
  X(TK_LSHIFT_EQ, "<<=", "<<=")                      \
  X(TK_RSHIFT_EQ, ">>=", ">>=")                      \
  X(TK_POW_EQ, "**=", "**=")                         \
  X(TK_FLOOR_DIV_EQ, "//=", "//=")                   \
  /* keywords, ORDER keywords: TK_DEF to TK_YIELD */ \
  X(TK_DEF, "def", "def")                            \
  X(TK_CLASS_DEF, "class", "class")                  \
  X(TK_IF, "if", "if")                               \
  X(TK_ELSE, "else", "else")                         \
  X(TK_ELIF, "elif", "elif")                         \
  X(TK_WHILE, "while", "while")                      \
  X(TK_FOR, "for", "for")                            \
  X(TK_IN, "in", "in")                               \
  X(TK_IS, "is", "is")                               \
  X(TK_AND, "and", "and")                            \
  X(TK_OR, "or", "or")                               \
  X(TK_NOT, "not", "not")                            \
  X(TK_TRUE, "True", "True")                         \
  X(TK_FALSE, "False", "False")                      \
  X(TK_NONE, "None", "None")                         \
  X(TK_RETURN, "return", "return")                   \
  X(TK_RAISE, "raise", "raise")                      \
  X(TK_ASSERT, "assert", "assert")                   \
  X(TK_BREAK, "break", "break")                      \
  X(TK_CONTINUE, "continue", "continue")             \
  X(TK_PASS, "pass", "pass")                         \
  X(TK_DELETE, "del", "del")                         \
  X(TK_GLOBAL, "global", "global")                   \
  X(TK_NONLOCAL, "nonlocal", "nonlocal")             \
  X(TK_IMPORT, "import", "import")                   \
  X(TK_FROM, "from", "from")                         \
  X(TK_WITH, "with", "with")                         \
  X(TK_AS, "as", "as")                               \
  X(TK_LAMBDA, "lambda", "lambda")                   \
  X(TK_TRY, "try", "try")                            \
  X(TK_EXCEPT, "except", "except")                   \
  X(TK_FINALLY, "finally", "finally")                \
  X(TK_ASYNC, "async", "async")                      \
  X(TK_AWAIT, "await", "await")                      \
  X(TK_YIELD, "yield", "yield")                      \
  /* kinds of trees only */                          \
  X(TK_CONST, "const", "")                           \
  X(TK_LIST, "list", "")                             \
  X(TK_OPTION, "option", "")                         \
  X(TK_DECL, "decl", "")                             \
  X(TK_PARAM, "param", "")                           \
  X(TK_EXPR_STMT, "expression statement", "")        \
  X(TK_ASSIGN, "assign", "")                         \
  X(TK_AUG_ASSIGN, "aug_assign", "")                 \
  X(TK_WITH_ITEM, "withitem", "")                    \
  X(TK_ALIAS, "alias", "")                           \
  X(TK_VAR, "variable", "")                          \
  X(TK_APPLY, "apply", "")                           \
  X(TK_ATTRIBUTE, "attribute", "")                   \
  X(TK_SUBSCRIPT, "subscript", "")                   \
  X(TK_SLICE_EXPR, "slice expr", "")                 \
  X(TK_STARRED, "starred", "")                       \
  X(TK_IF_EXPR, "if", "")                            \
  X(TK_UNARY_MINUS, "unary minus", "")               \
  X(TK_ISNOT, "is not", "")                          \
  X(TK_LIST_LITERAL, "list-literal", "")             \
  X(TK_TUPLE_LITERAL, "tuple-literal", "")           \
  X(TK_DICT_LITERAL, "dict-literal", "")             \
  X(TK_LIST_COMP, "list comprehension", "")          \
  X(TK_DICT_COMP, "dict comprehension", "")          \
  X(TK_UNSUPPORTED, "unsupported", "")

enum {
  TK_FIRST = 256, /* below: characters */
#define X(kind, name, spelling) kind,
  TOKEN_KINDS(X)
#undef X
      TK_COUNT
};
typedef int TokenKind;

/* "ident", "+", "string_literal". Static. */
const char *token_kind_name(TokenKind kind);
/* "TK_IDENT"; a character is its own name. Static. */
const char *token_kind_enumerator(TokenKind kind);
/* TK_IDENT when the text is no keyword. */
TokenKind token_keyword(Str text);
