/* The one list of the tables of operator rows. Sorted. */
#include "op/op.h"

extern const OpTable op_table_reduce;

const OpTable *const op_tables[] = {
  &op_table_reduce,
  NULL,
};
