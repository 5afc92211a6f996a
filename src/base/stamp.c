#include "base/stamp.h"

_Atomic uint64_t state_stamp;

void state_stamp_move(_Atomic bool *mark) {
  if (atomic_exchange(mark, false)) atomic_fetch_add(&state_stamp, 1);
}
