/* One call of something that no schema types, through one of the ways in. */
#pragma once

#include "call/operator.h"
#include "type/type.h"

/* Kinds of values. */
enum { KIND_COUNT = 16, MAX_GIVEN = 5 };
typedef enum Door { DOOR_PROGRAM, DOOR_BYTECODE, DOOR_CALLER, DOOR_KERNEL, DOOR_GRAPH, DOOR_COUNT } Door;

typedef struct HostileCall {
  Door door;
  Str name;           /* qualified */
  const Operator *op; /* an overload of that name; NULL: a kind of node that has no row */
  uint8_t kinds[MAX_GIVEN], count;
  uint8_t output_count, output_kind, attributes; /* of a graph's node */
} HostileCall;

typedef struct Answer {
  bool succeeded, is_internal;
  char message[2000];
} Answer;

extern const char *const door_names[DOOR_COUNT];
void hostile_print(const HostileCall *call, StrBuf *out);
/* A kind of that type, the first from `from` on; where there is none, `from`. */
uint8_t hostile_kind_of(const Type *type, uint8_t from);
/* Whether the call can be spelled through its door. */
bool hostile_is_possible(const HostileCall *call);
void hostile_run(const HostileCall *call, uint64_t deadline_ns, Answer *out);

enum { HOSTILE_NUMBER = 0 /* of the kinds the one that would be an address */ };
static const int64_t hostile_number = 1311768467294899695;
