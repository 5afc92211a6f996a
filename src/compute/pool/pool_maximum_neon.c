/* The greatest of small windows with NEON. */
#define NAME pool_maximum_neon
#include "compute/pool/pool_maximum_body.h"
