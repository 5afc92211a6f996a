/* What both kinds of Schur form need: a Hessenberg matrix on the way there. Rows and columns from 0; [low, high] is
 * the block at work. */
typedef struct Schur {
  Index n, low, high; /* what is outside is upper triangular already */
  bool wants_form;    /* the whole triangle, not its diagonal alone */
  NUMBER *h;
  Index ldh;
  NUMBER *z; /* NULL: no vectors */
  Index ldz;
} Schur;
#define H(i, j) s->h[(i) + (j)*s->ldh]
enum { SCHUR_STEPS = 30, UNUSUAL_EVERY = 10 };

/* Where the block that ends at `end` begins: after the last subdiagonal element that is nothing beside its
 * neighbours (M. Ahues & F. Tisseur, LAPACK working note 122, 1997). */
static Index block_begin_of(const Schur *s, Index low, Index end) {
  const REAL small = LEAST * ((REAL)(s->high - s->low + 1) / EPSILON);
  Index k = end;
  for (; k > low; k--) {
    REAL below = size_of(H(k, k - 1));
    if (below <= small) break;
    REAL test = size_of(H(k - 1, k - 1)) + size_of(H(k, k));
    if (test == 0) {
      if (k - 2 >= s->low) test += size_of_real(real_of(H(k - 1, k - 2)));
      if (k + 1 <= s->high) test += size_of_real(real_of(H(k + 1, k)));
    }
    if (size_of_real(real_of(H(k, k - 1))) > EPSILON * test) continue;
    REAL beside = size_of(H(k - 1, k)), difference = size_of(H(k - 1, k - 1) - H(k, k)), corner = size_of(H(k, k));
    REAL ab = greater(below, beside), ba = lesser(below, beside), aa = greater(corner, difference),
         bb = lesser(corner, difference), sum = aa + ab;
    if (ba * (ab / sum) <= greater(small, EPSILON * (bb * (aa / sum)))) break;
  }
  return k;
}
