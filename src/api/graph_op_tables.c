/* The one list of the tables of rows in folders above op: operators that read their node. Sorted. */
#include "call/operator.h"

extern const OpTable op_table_batch_mm;
extern const OpTable op_table_fuse;

const OpTable *const graph_op_tables[] = {
    &op_table_batch_mm,
    &op_table_fuse,
    NULL,
};
