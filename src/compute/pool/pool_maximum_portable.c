/* The greatest of small windows for every processor. */
#define NAME pool_maximum_portable
#include "compute/pool/pool_maximum_body.h"
