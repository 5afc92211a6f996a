/* Text in, tokens out; what can't be lexed ends in a message with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "syntax/lexer.h"

typedef struct Case {
  const char *text, *tokens; /* enumerators and texts joined by blanks, or the first line of the error */
} Case;

static const Case CASES[] = {
    {"if\n  .\n  .\n", "TK_IF TK_NEWLINE TK_INDENT . TK_NEWLINE . TK_NEWLINE TK_DEDENT TK_EOF"},
    {"", "TK_EOF"},
    {"a", "TK_IDENT a TK_NEWLINE TK_EOF"},
    {"\n\n  # c\n  a\n\n  b # c", "TK_IDENT a TK_NEWLINE TK_IDENT b TK_NEWLINE TK_EOF"},
    {"if a:\n  b\n\n    \n# c\n  c\nd",
     "TK_IF TK_IDENT a : TK_NEWLINE TK_INDENT TK_IDENT b TK_NEWLINE TK_IDENT c TK_NEWLINE TK_DEDENT TK_IDENT d "
     "TK_NEWLINE TK_EOF"},
    {"a\n  b\n    c\nd",
     "TK_IDENT a TK_NEWLINE TK_INDENT TK_IDENT b TK_NEWLINE TK_INDENT TK_IDENT c TK_NEWLINE TK_DEDENT "
     "TK_DEDENT TK_IDENT d TK_NEWLINE TK_EOF"},
    {"f(a,\n      b)\n", "TK_IDENT f ( TK_IDENT a , TK_IDENT b ) TK_NEWLINE TK_EOF"},
    {"a + \\\n  b", "TK_IDENT a + TK_IDENT b TK_NEWLINE TK_EOF"},
    {"1 1_000 0xFf 0b1_0 0o17 1. .5 1e3 1E-05 2j 1.5e2J 00",
     "TK_NUMBER 1 TK_NUMBER 1_000 TK_NUMBER 0xFf TK_NUMBER 0b1_0 TK_NUMBER 0o17 TK_NUMBER 1. TK_NUMBER .5 TK_NUMBER "
     "1e3 "
     "TK_NUMBER 1E-05 TK_NUMBER 2j TK_NUMBER 1.5e2J TK_NUMBER 00 TK_NEWLINE TK_EOF"},
    {"'a' r'\\\\' f\"{x}\" b'' '''q'\n'''",
     "TK_STRINGLITERAL 'a' TK_STRINGLITERAL r'\\\\' TK_FSTRING f\"{x}\" TK_BYTES b'' TK_STRINGLITERAL '''q'\n''' "
     "TK_NEWLINE "
     "TK_EOF"},
    {"** //= -> ... := != <<= @",
     "TK_POW TK_FLOOR_DIV_EQ TK_ARROW TK_DOTS TK_WALRUS TK_NE TK_LSHIFT_EQ @ TK_NEWLINE TK_EOF"},
    {"x  # type: List[int]\n", "TK_IDENT x TK_TYPE_COMMENT List[int] TK_NEWLINE TK_EOF"},
    {"x  # type: ignore\n", "TK_IDENT x TK_NEWLINE TK_EOF"},
    {"caf\xC3\xA9 _x9", "TK_IDENT caf\xC3\xA9 TK_IDENT _x9 TK_NEWLINE TK_EOF"},
    {"definition defi def not nota", "TK_IDENT definition TK_IDENT defi TK_DEF TK_NOT TK_IDENT nota TK_NEWLINE TK_EOF"},
    {"if a:\n    b\n  c\n", "unindent does not match any outer indentation level:"},
    {"(a", "this bracket was never closed:"},
    {"(a]", "this closing bracket does not match the one that is open:"},
    {"'abc\n'", "this string is never closed:"},
    {"\"\"\"abc\"\"", "this string is never closed:"},
    {"0123", "leading zeros in an integer are not allowed; an octal number begins with 0o:"},
    {"0x", "a number without digits:"},
    {"0b12", "invalid digit in a number:"},
    {"1__0", "invalid number:"},
    {"12ab", "invalid number:"},
    {"a \x01", "unexpected character:"},
    {"a\xFF", "invalid character in a name:"},
};

typedef struct Job {
  Arena arena;
  Source *source;
  StrBuf out;
} Job;

static void lex_all(void *argument) {
  Job *job = argument;
  Lexer lexer;
  lexer_init(&lexer, &job->arena, job->source);
  lexer_print(&lexer, &job->out);
}

static void check_case(const Case *row) {
  Job job = {0};
  assert_null(source_new(str_from(row->text), NULL, 1, &job.source));
  Status status = arena_protect(&job.arena, lex_all, &job);
  if (status) {
    status->message[strcspn(status->message, "\n")] = '\0';
    assert_string_equal(status->message, row->tokens);
    assert_int_equal(status->code, ERROR_SYNTAX);
    status_free(status);
  } else {
    job.out.data[--job.out.length] = '\0';
    /* A line break between tokens is a blank in the table; one within a string stays. */
    for (size_t i = 0; i < job.out.length; i++)
      if (job.out.data[i] == '\n' && job.out.data[i + 1] != '\'') job.out.data[i] = ' ';
    assert_string_equal(job.out.data, row->tokens);
  }
  strbuf_dispose(&job.out);
  arena_dispose(&job.arena);
  source_release(job.source);
}

static void test_cases(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) check_case(&CASES[i]);
}

static void lex_fragments(void *argument) {
  Job *job = argument;
  Lexer lexer;
  Token token;
  lexer_init_fragment(&lexer, &job->arena, job->source, 1, 6);
  lexer_next(&lexer, &token);
  assert_true(str_is(token_text(&lexer, &token), "b"));
  assert_int_equal(token_range(&lexer, &token).begin, 1);
  lexer_next(&lexer, &token);
  assert_true(str_is(token_text(&lexer, &token), "cd"));
  lexer_next(&lexer, &token);
  assert_int_equal(token.kind, TK_EOF);
  lexer_init_text(&lexer, &job->arena, STR("  xyz"), (SourceRange){job->source, 4, 6});
  lexer_next(&lexer, &token);
  assert_true(str_is(token_text(&lexer, &token), "xyz"));
  assert_int_equal(token_range(&lexer, &token).begin, 4);
}

static void test_fragments(void **state) {
  (void)state;
  Job job = {0};
  assert_null(source_new(STR("ab\n cd ef"), NULL, 1, &job.source));
  assert_null(arena_protect(&job.arena, lex_fragments, &job));
  arena_dispose(&job.arena);
  source_release(job.source);
}

static void test_names(void **state) {
  (void)state;
  assert_string_equal(token_kind_name('+'), "+");
  assert_string_equal(token_kind_name(TK_STRINGLITERAL), "string_literal");
  assert_string_equal(token_kind_enumerator(TK_DEF), "TK_DEF");
  for (TokenKind kind = TK_DEF; kind <= TK_YIELD; kind++)
    assert_int_equal(token_keyword(str_from(token_kind_name(kind))), kind);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_fragments),
                                     cmocka_unit_test(test_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
