/* The passes of this folder by name. */
#include "autodiff/differentiate.h"

static const Pass *const passes[] = {&pass_create_autodiff_subgraphs, &pass_create_autodiff_subgraphs_of_one,
                                     &pass_differentiate, &pass_inline_autodiff_subgraphs};
const PassTable pass_table_autodiff = {passes, sizeof passes / sizeof *passes};
