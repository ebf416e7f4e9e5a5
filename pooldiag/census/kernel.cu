// Counts each piece of a tensor by one block of threads, in one pass: what `pooldiag.census.device` reads of it is
// one row a piece. Compiled by NVRTC with -DBITS=8, 16, 32 or 64, the size of an element.

#if BITS == 8
typedef unsigned char Word;
typedef unsigned int Key;
#elif BITS == 16
typedef unsigned short Word;
typedef unsigned int Key;
#elif BITS == 32
typedef unsigned int Word;
typedef unsigned int Key;
#else
typedef unsigned long long Word;
typedef unsigned long long Key;
#endif
typedef unsigned long long Wide;

enum Kind { FLOAT, MINUS_ZERO_IS_NAN, UNSIGNED, SIGNED };

struct Layout {
    Key sign;        // the sign bit, 0 in a type without one
    Key magnitudes;  // all bits but the sign
    Key special;     // the smallest magnitude that is not finite, if `has_special`
    Key normal;      // the smallest magnitude that is normal
    int has_special;
    int kind;
};

// An element that is extreme: what orders it, its place in the piece. The earliest of equals counts.
struct Extreme {
    Wide key;
    Wide place;
};

struct Row {
    Wide special, zero, negative_zero, small;  // `small`: below the smallest normal, zeros too
    Wide lowest_word, highest_word;            // as unsigned numbers, special ones too
    Extreme lowest, highest, largest;          // of what is finite; none if `special` is all
};

static __device__ void keep(Extreme &kept, Wide key, Wide place, bool larger) {
    bool better = larger ? key > kept.key : key < kept.key;
    if (better || (key == kept.key && place < kept.place)) {
        kept.key = key;
        kept.place = place;
    }
}

static __device__ Row nothing() {
    const Wide never = ~0ull;
    Row row = {0, 0, 0, 0, never, 0, {never, never}, {0, never}, {0, never}};
    return row;
}

static __device__ void count(Row &row, Word word, Wide place, const Layout &layout) {
    const Key bits = word;
    const Key all = (Key)(Word)~(Word)0;
    const bool negative = layout.kind != UNSIGNED && (bits & layout.sign);
    row.lowest_word = bits < row.lowest_word ? bits : row.lowest_word;
    row.highest_word = bits > row.highest_word ? bits : row.highest_word;
    row.zero += bits == 0;
    Key order, magnitude;
    if (layout.kind == FLOAT || layout.kind == MINUS_ZERO_IS_NAN) {
        magnitude = bits & layout.magnitudes;
        const bool nan_here = layout.kind == MINUS_ZERO_IS_NAN && bits == layout.sign;
        if (nan_here || (layout.has_special && magnitude >= layout.special)) {
            row.special += 1;
            return;
        }
        row.negative_zero += negative && magnitude == 0;
        row.small += magnitude < layout.normal;
        order = negative ? ~bits & all : bits | layout.sign;
    } else {
        magnitude = negative ? (0 - bits) & all : bits;
        order = layout.kind == SIGNED ? bits ^ layout.sign : bits;
    }
    keep(row.lowest, order, place, false);
    keep(row.highest, order, place, true);
    keep(row.largest, magnitude, place, true);
}

static __device__ void join(Row &row, const Row &other) {
    row.special += other.special;
    row.zero += other.zero;
    row.negative_zero += other.negative_zero;
    row.small += other.small;
    row.lowest_word = other.lowest_word < row.lowest_word ? other.lowest_word : row.lowest_word;
    row.highest_word = other.highest_word > row.highest_word ? other.highest_word : row.highest_word;
    keep(row.lowest, other.lowest.key, other.lowest.place, false);
    keep(row.highest, other.highest.key, other.highest.place, true);
    keep(row.largest, other.largest.key, other.largest.place, true);
}

#define THREADS 256

extern "C" __global__ void census(
    const Word *words, Wide n, Wide piece, Wide sign, Wide magnitudes, Wide special, Wide normal, int has_special,
    int kind, Row *rows) {
    __shared__ Row joined[THREADS];
    const Layout layout = {(Key)sign, (Key)magnitudes, (Key)special, (Key)normal, has_special, kind};
    const Wide begin = blockIdx.x * piece;
    const Wide size = n - begin < piece ? n - begin : piece;
    const Word *from = words + begin;
    const unsigned int width = sizeof(uint4) / sizeof(Word);  // elements that are loaded at a time
    const Wide loads = (unsigned long long)from % sizeof(uint4) ? 0 : size / width;
    Row row = nothing();
    for (Wide load = threadIdx.x; load < loads; load += THREADS) {
        union {
            uint4 loaded;
            Word words[sizeof(uint4) / sizeof(Word)];
        } few;
        few.loaded = ((const uint4 *)from)[load];
        for (unsigned int each = 0; each < width; ++each) count(row, few.words[each], load * width + each, layout);
    }
    for (Wide place = loads * width + threadIdx.x; place < size; place += THREADS)
        count(row, from[place], place, layout);
    joined[threadIdx.x] = row;
    for (unsigned int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) join(joined[threadIdx.x], joined[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) rows[blockIdx.x] = joined[0];
}
