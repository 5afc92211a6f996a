/* Patterns to programs: recursive descent, which writes what it reads. Jumps are relative, so that code can be copied
 * and moved. */
#include "torchtext/regex_internal.h"

typedef struct Parser {
  Regex *regex;
  const char *begin, *at, *end;
  int nesting;
  wick_error **error;
} Parser;

static wick_status refuse(Parser *p, const char *what) {
  return fail(p->error, WICK_INVALID_ARGUMENT, "regular expression '%.200s': %s at %zu", p->begin, what,
              (size_t)(p->at - p->begin));
}

/* A new instruction at `place`; those after it move, and jump relatively. */
static wick_status insert(Parser *p, int place, RegexInstruction in) {
  Regex *r = p->regex;
  if (r->count == MAX_INSTRUCTIONS) return refuse(p, "it is too large");
  memmove(r->code + place + 1, r->code + place, (size_t)(r->count - place) * sizeof *r->code);
  r->code[place] = in;
  r->count++;
  return WICK_OK;
}
static wick_status add(Parser *p, RegexInstruction in) {
  return insert(p, p->regex->count, in);
}
static wick_status add_range(Parser *p, uint32_t first, uint32_t last) {
  Regex *r = p->regex;
  if (r->range_count == MAX_RANGES) return refuse(p, "it is too large");
  r->ranges[r->range_count++] = (RegexRange){first, last};
  return WICK_OK;
}

static bool next_is(const Parser *p, char c) {
  return p->at < p->end && *p->at == c;
}

/* ---- characters ---- */

/* \d, \w, \s: adds what they are, or the rest of all code points. */
static wick_status add_class(Parser *p, char letter) {
  static const RegexRange digit[] = {{'0', '9'}}, space[] = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
  static const RegexRange word[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  bool negated = letter < 'a';
  char small = negated ? (char)(letter + 32) : letter;
  const RegexRange *ranges = small == 'd' ? digit : small == 's' ? space : word;
  size_t count = small == 'd' ? COUNT(digit) : small == 's' ? COUNT(space) : COUNT(word);
  uint32_t next = 0;
  for (size_t i = 0; i < count; i++) {
    if (negated) {
      if (ranges[i].first > next) TRY(add_range(p, next, ranges[i].first - 1));
    } else {
      TRY(add_range(p, ranges[i].first, ranges[i].last));
    }
    next = ranges[i].last + 1;
  }
  return negated ? add_range(p, next, 0x10ffff) : WICK_OK;
}
static bool is_class(char c) {
  return c && strchr("dDwWsS", c);
}

static int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

static wick_status read_hex(Parser *p, uint32_t *out) {
  bool braces = next_is(p, '{');
  int digits = 0;
  *out = 0;
  for (p->at += braces; p->at < p->end && hex_digit(*p->at) >= 0 && digits < (braces ? 8 : 2); p->at++, digits++)
    *out = *out * 16 + (uint32_t)hex_digit(*p->at);
  if (digits < (braces ? 1 : 2) || *out > 0x10ffff || (braces && !next_is(p, '}')))
    return refuse(p, "\\x is followed by no code point");
  p->at += braces;
  return WICK_OK;
}

/* Behind the backslash; no class. */
static wick_status read_escape(Parser *p, uint32_t *out) {
  static const char letters[] = "ntrfva", meanings[] = "\n\t\r\f\v\a";
  if (p->at == p->end) return refuse(p, "a backslash stands alone");
  char c = *p->at;
  const char *found = strchr(letters, c);
  if (c == 'x') {
    p->at++;
    return read_hex(p, out);
  }
  if (c && found) {
    *out = (uint32_t)meanings[found - letters];
  } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c & 0x80) {
    return refuse(p, "this escape is not built in");
  } else {
    *out = (unsigned char)c;
  }
  p->at++;
  return WICK_OK;
}

static wick_status read_member(Parser *p, uint32_t *out) {
  if (p->at == p->end) return refuse(p, "a class does not end");
  if (next_is(p, '\\')) {
    p->at++;
    return read_escape(p, out);
  }
  p->at += regex_decode(p->at, p->end, out);
  return WICK_OK;
}

static wick_status parse_set(Parser *p) { /* after [ */
  RegexInstruction in = {.op = OP_RANGES, .negated = next_is(p, '^'), .x = p->regex->range_count};
  p->at += in.negated;
  for (bool first = true; first || !next_is(p, ']'); first = false) {
    uint32_t low, high;
    if (p->at + 1 < p->end && p->at[0] == '[' && p->at[1] == ':') return refuse(p, "[:names:] are not built in");
    if (p->at + 1 < p->end && p->at[0] == '\\' && is_class(p->at[1])) {
      TRY(add_class(p, p->at[1]));
      p->at += 2;
      continue;
    }
    TRY(read_member(p, &low));
    high = low;
    if (p->at + 1 < p->end && p->at[0] == '-' && p->at[1] != ']') {
      p->at++;
      TRY(read_member(p, &high));
      if (high < low) return refuse(p, "a range ends before it begins");
    }
    TRY(add_range(p, low, high));
  }
  p->at++;
  in.y = p->regex->range_count - in.x;
  return add(p, in);
}

static wick_status add_one(Parser *p, uint32_t first, uint32_t last, bool negated) {
  RegexInstruction in = {.op = OP_RANGES, .negated = negated, .x = p->regex->range_count, .y = 1};
  TRY(add_range(p, first, last));
  return add(p, in);
}

/* ---- parts ---- */

static wick_status parse_alternatives(Parser *p);

static wick_status parse_group(Parser *p) { /* after ( */
  int group = -1;
  if (next_is(p, '?')) {
    if (p->at + 1 < p->end && p->at[1] == ':') {
      p->at += 2;
    } else {
      return refuse(p, "of (?...) there is (?:...)");
    }
  } else {
    group = ++p->regex->groups;
  }
  if (p->nesting++ == MAX_NESTING) return refuse(p, "it is nested too deeply");
  bool saved = group > 0 && group < MAX_GROUPS;
  if (saved) TRY(add(p, (RegexInstruction){.op = OP_SAVE, .x = 2 * group}));
  TRY(parse_alternatives(p));
  if (saved) TRY(add(p, (RegexInstruction){.op = OP_SAVE, .x = 2 * group + 1}));
  if (!next_is(p, ')')) return refuse(p, "a group does not end");
  p->at++;
  p->nesting--;
  return WICK_OK;
}

static wick_status parse_escaped(Parser *p) { /* after the backslash */
  uint32_t c;
  char letter = p->at < p->end ? *p->at : 0;
  if (is_class(letter)) {
    RegexInstruction in = {.op = OP_RANGES, .x = p->regex->range_count};
    p->at++;
    TRY(add_class(p, letter));
    in.y = p->regex->range_count - in.x;
    return add(p, in);
  }
  if (letter && strchr("bBAz", letter)) {
    p->at++;
    return add(p, (RegexInstruction){.op = letter == 'A'   ? OP_BEGIN
                                           : letter == 'z' ? OP_END
                                                           : OP_WORD,
                                     .negated = letter == 'B'});
  }
  TRY(read_escape(p, &c));
  return add_one(p, c, c, false);
}

static wick_status parse_atom(Parser *p) {
  uint32_t c;
  char first = *p->at;
  if (strchr("*+?", first) && first) return refuse(p, "there is nothing to repeat");
  p->at += regex_decode(p->at, p->end, &c);
  switch (c) {
    case '(':
      return parse_group(p);
    case '[':
      return parse_set(p);
    case '\\':
      return parse_escaped(p);
    case '.':
      return add_one(p, '\n', '\n', true);
    case '^':
      return add(p, (RegexInstruction){.op = OP_BEGIN});
    case '$':
      return add(p, (RegexInstruction){.op = OP_END});
    default:
      return add_one(p, c, c, false);
  }
}

/* {n}, {n,} or {n,m}; anything else is text. */
static bool read_counts(Parser *p, int *least, int *most) {
  const char *at = p->at + 1;
  int numbers[2] = {-1, -1}, which = 0;
  for (; at < p->end && *at != '}'; at++) {
    if (*at == ',' && !which && numbers[0] >= 0)
      which = 1;
    else if (*at >= '0' && *at <= '9' && numbers[which] <= MAX_REPEAT)
      numbers[which] = (numbers[which] < 0 ? 0 : numbers[which]) * 10 + (*at - '0');
    else
      return false;
  }
  if (at == p->end || numbers[0] < 0) return false;
  *least = numbers[0];
  *most = which ? numbers[1] : numbers[0];
  p->at = at + 1;
  return true;
}

/* What stands from `start` on may be left out, or else comes again and again. */
static wick_status make_optional(Parser *p, int start, bool again, bool lazy) {
  int length = p->regex->count - start, over = length + (again ? 2 : 1);
  TRY(insert(p, start, (RegexInstruction){.op = OP_SPLIT, .x = lazy ? over : 1, .y = lazy ? 1 : over}));
  if (!again) return WICK_OK;
  return add(p, (RegexInstruction){.op = OP_JUMP, .x = -(length + 1)});
}

/* The `length` instructions at `from` once more. */
static wick_status add_copy(Parser *p, int from, int length) {
  for (int i = 0; i < length; i++) TRY(add(p, p->regex->code[from + i]));
  return WICK_OK;
}

static wick_status parse_repeated(Parser *p) {
  Regex *r = p->regex;
  int start = r->count, least = 1, most = 1;
  TRY(parse_atom(p));
  int length = r->count - start;
  if (next_is(p, '*') || next_is(p, '+') || next_is(p, '?')) {
    least = *p->at == '+';
    most = *p->at == '?' ? 1 : -1;
    p->at++;
  } else if (!next_is(p, '{') || !read_counts(p, &least, &most)) {
    return WICK_OK;
  }
  bool lazy = next_is(p, '?');
  p->at += lazy;
  if (least > MAX_REPEAT || most > MAX_REPEAT || (most >= 0 && most < least))
    return refuse(p, "these counts are refused");
  if (next_is(p, '*') || next_is(p, '+')) return refuse(p, "what is repeated is repeated again");
  int copies = most < 0 ? least + 1 : most;
  for (int i = 0; i < copies; i++) {
    int place = i ? r->count : start;
    if (i) TRY(add_copy(p, start + (least ? 0 : 1), length)); /* the first has a split before it by then */
    if (i >= least) TRY(make_optional(p, place, most < 0, lazy));
  }
  if (!copies) r->count = start;
  return WICK_OK;
}

static wick_status parse_alternatives(Parser *p) {
  Regex *r = p->regex;
  int start = r->count;
  while (p->at < p->end && !next_is(p, '|') && !next_is(p, ')')) TRY(parse_repeated(p));
  if (!next_is(p, '|')) return WICK_OK;
  p->at++;
  if (p->nesting++ == MAX_NESTING) return refuse(p, "it has too many alternatives");
  TRY(insert(p, start, (RegexInstruction){.op = OP_SPLIT, .x = 1, .y = r->count - start + 2}));
  int jump = r->count;
  TRY(add(p, (RegexInstruction){.op = OP_JUMP}));
  TRY(parse_alternatives(p));
  r->code[jump].x = r->count - jump;
  p->nesting--;
  return WICK_OK;
}

wick_status regex_new(const char *pattern, size_t length, Regex **out, wick_error **error) {
  *out = calloc(1, sizeof **out);
  if (!*out) return fail_memory(error);
  Parser p = {.regex = *out, .begin = pattern, .at = pattern, .end = pattern + length, .error = error};
  wick_status status = parse_alternatives(&p);
  if (!status && p.at != p.end) status = refuse(&p, "a group ends that does not begin");
  if (!status) status = add(&p, (RegexInstruction){.op = OP_MATCH});
  if (status) {
    free(*out);
    *out = NULL;
  }
  return status;
}
