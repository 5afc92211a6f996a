/* The one list of the tables of passes: one for each folder that has some. */
#include "api/start.h"

extern const PassTable pass_table_autodiff;
extern const PassTable pass_table_fuse;
extern const PassTable pass_table_pass;

const PassTable *const pass_tables[] = {&pass_table_pass, &pass_table_fuse, &pass_table_autodiff, NULL};
