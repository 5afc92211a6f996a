/* CallBody: what does a call that a kernel declines. */
#pragma once

#include "call/call.h"
#include "report/reason.h"

/* What does a call that the kernel declines (reason_decline). */
typedef struct CallBody {
  Str name;                                                      /* of what is called, for who counts */
  SourceRange range;                                             /* of the call */
  const struct Region *region;                                   /* call/region.h; NULL: it is none */
  Status (*run)(const struct CallBody *body, struct Call *call); /* NULL: the row's body */
  ReasonCounter declined;                                        /* why and how often */
} CallBody;
