/* Compares the vector code of ext/piecework/_vector.h with its twins in plain C.

   Ends with 1 at the first difference, or if memory is touched that must not be, and says in which
   function and for which input. tests/test_vector.py compiles and runs it. All memory that the
   functions get lies against pages that can't be touched. */

#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "_vector.h"

#define MOST 8320 /* numbers that a function gets at most: the stage and two blocks */

static unsigned long n_checks;
static const char *set = PIECEWORK_VECTOR;

/* ---- what is being checked, and how a difference is told ---- */

static char now[256];         /* the call */
static const void *now_input; /* and what it reads */
static size_t now_bytes;

static void checking(const void *input, size_t n_bytes, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(now, sizeof now, format, arguments);
    va_end(arguments);
    now_input = input;
    now_bytes = n_bytes;
    n_checks++;
}

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s, %s: ", set, now);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\ninput, %lu bytes:", (unsigned long)now_bytes);
    for (size_t i = 0; i < now_bytes && i < 512; i++)
        fprintf(stderr, " %02x", ((const uint8_t *)now_input)[i]);
    fprintf(stderr, "\n");
    exit(1);
}

/* The input may lie where it can't be read, so only the call is told. */
static void on_fault(int number) {
    static const char message[] = ": touches memory that it must not\n";
    (void)number;
    if (write(2, now, strlen(now)) < 0 || write(2, message, sizeof message - 1) < 0) _exit(2);
    _exit(1);
}

/* ---- memory between two pages that can't be touched ---- */

typedef struct {
    uint8_t *start, *stop;
} room;

static room new_room(size_t n_bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t inside = (n_bytes + page - 1) / page * page;
    uint8_t *memory = mmap(NULL, inside + 2 * page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    room new;
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) ||
        mprotect(memory + page + inside, page, PROT_NONE)) {
        perror("vector_check: no memory");
        exit(2);
    }
    new.start = memory + page;
    new.stop = memory + page + inside;
    return new;
}

/* n bytes at one end of a room. */
static void *place(room in, size_t n_bytes, int at_stop) {
    return at_stop ? in.stop - n_bytes : in.start;
}

/* ---- random numbers, the same in each run ---- */

static uint64_t state = 0x9E3779B97F4A7C15ull;

static uint64_t any(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint32_t below(uint32_t n) { return (uint32_t)((any() >> 32) % n); }

/* ---- classify ---- */

static int is_letter(int byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= 'a' && byte <= 'z') || byte >= 0x80;
}

static int is_guessed(int byte) { return (byte >= ' ' && byte <= '~') || byte >= 0x80; }

/* The classes as vector code guesses them, but for n_wrong bytes, which may be the same. */
static void make_classes(pw_classes *classes, int n_wrong) {
    static const uint8_t odd_ones[] = {0, PW_LETTER, PW_ISOLATED, PW_LETTER | PW_ODD,
                                       PW_LETTER | PW_SPECIAL, PW_ISOLATED | PW_SPECIAL,
                                       PW_LETTER | PW_ODD | PW_SPECIAL, PW_SPECIAL};
    memset(classes, 0, sizeof *classes);
    for (int byte = 0; byte < 256; byte++) {
        if (!is_guessed(byte))
            classes->of_byte[byte] = odd_ones[below(sizeof odd_ones)];
        else if (byte != ' ')
            classes->of_byte[byte] = is_letter(byte) ? PW_LETTER : PW_ISOLATED;
    }
    for (int i = 0; i < n_wrong; i++) {
        int byte = '!' + (int)below(256 - '!');
        classes->of_byte[byte] = odd_ones[below(sizeof odd_ones)];
        if (i < PW_N_EXCEPTIONS) classes->exceptions[i] = (uint8_t)byte;
    }
    classes->guess_fails = n_wrong > PW_N_EXCEPTIONS;
}

static void check_block(const uint8_t *block, const pw_classes *classes) {
    pw_masks got, want;
    checking(block, PW_BLOCK, "pw_classify(exceptions %02x %02x, guess_fails %d)",
             classes->exceptions[0], classes->exceptions[1], classes->guess_fails);
    pw_classify(block, classes, &got);
    pw_classify_plain(block, classes, &want);
    for (int i = 0; i < PW_BLOCK; i++) {
        int byte = block[i], unsure = got.unsure >> i & 1;
        int needs_asking = !is_guessed(byte) || byte == classes->exceptions[0] ||
                           byte == classes->exceptions[1];
        if (unsure && !needs_asking && !classes->guess_fails)
            fail("unsure of byte %02x at %d", byte, i);
        if (!unsure && want.unsure >> i & 1) fail("sure of byte %02x at %d", byte, i);
        if (!unsure && ((got.letters ^ want.letters) >> i & 1))
            fail("byte %02x at %d: letter %d", byte, i, (int)(got.letters >> i & 1));
        if (!unsure && ((got.isolated ^ want.isolated) >> i & 1))
            fail("byte %02x at %d: isolated %d", byte, i, (int)(got.isolated >> i & 1));
    }
}

static void check_classify(void) {
    room in = new_room(2 * PW_BLOCK);
    pw_classes classes;
    for (int n_wrong = 0; n_wrong < 5; n_wrong++) {
        for (int byte = 0; byte < 256; byte++) { /* each byte at each place, and nothing else */
            uint8_t *block = place(in, PW_BLOCK, byte & 1);
            make_classes(&classes, n_wrong);
            for (int i = 0; i < PW_BLOCK; i++) {
                memset(block, ' ', PW_BLOCK);
                block[i] = (uint8_t)byte;
                check_block(block, &classes);
            }
        }
        for (int round = 0; round < 4096; round++) { /* all alignments */
            uint8_t *block = in.stop - PW_BLOCK - round % PW_BLOCK;
            make_classes(&classes, n_wrong);
            for (int i = 0; i < PW_BLOCK; i++) {
                block[i] = (uint8_t)any();
                if (n_wrong && below(8) == 0) block[i] = classes.exceptions[below(2)];
            }
            check_block(block, &classes);
        }
    }
}

/* ---- narrow ---- */

static size_t narrow(int size, const void *chars, size_t n, const pw_bytes *bytes, uint8_t *out) {
    if (size == 1) return pw_narrow1(chars, n, bytes, out);
    return size == 2 ? pw_narrow2(chars, n, bytes, out) : pw_narrow4(chars, n, bytes, out);
}

static size_t narrow_plain(int size, const void *chars, size_t n, const pw_bytes *bytes,
                           uint8_t *out) {
    if (size == 1) return pw_narrow1_plain(chars, n, bytes, out);
    return size == 2 ? pw_narrow2_plain(chars, n, bytes, out)
                     : pw_narrow4_plain(chars, n, bytes, out);
}

/* U+0020 to U+007E as they must be, and of the others a fifth without a byte. */
static void make_bytes(pw_bytes *bytes, uint8_t fold) {
    bytes->fold = fold;
    for (uint32_t c = 0; c < 0x10000; c++) {
        if (c < ' ' || c > '~')
            bytes->of_char[c] = below(5) ? (uint8_t)any() : 0;
        else
            bytes->of_char[c] = (uint8_t)(c | (c >= 'A' && c <= 'Z' ? fold : 0));
    }
}

/* Characters that are of no such size lose their highest bits. */
static void store_chars(int size, const uint32_t *chars, size_t n, void *out) {
    for (size_t i = 0; i < n; i++) {
        if (size == 1) ((uint8_t *)out)[i] = (uint8_t)chars[i];
        if (size == 2) ((uint16_t *)out)[i] = (uint16_t)chars[i];
        if (size == 4) ((uint32_t *)out)[i] = chars[i];
    }
}

static void check_chars(const uint32_t *chars, size_t n) {
    static uint8_t want[MOST];
    static pw_bytes tables[2]; /* without and with folding */
    static room in, out;
    size_t zeros, got_zeros, n_out;
    if (in.start == NULL) {
        in = new_room(MOST * 4 + 16), out = new_room(MOST + 16);
        make_bytes(&tables[0], 0), make_bytes(&tables[1], 0x20);
    }
    for (int run = 0; run < 12; run++) {
        int size = 1 << run % 3, at_stop = run / 3 & 1;
        const pw_bytes *bytes = &tables[run >= 6];
        void *input = place(in, n * (size_t)size, at_stop);
        uint8_t *got;
        n_out = at_stop ? n : n + below(16); /* so that all alignments occur */
        got = (uint8_t *)place(out, n_out, at_stop) + (n_out - n);
        store_chars(size, chars, n, input);
        memset(got, 0xEE, n);
        zeros = narrow_plain(size, input, n, bytes, want);
        checking(input, n * (size_t)size, "pw_narrow%d(n %lu, fold %02x)", size,
                 (unsigned long)n, bytes->fold);
        got_zeros = narrow(size, input, n, bytes, got);
        for (size_t i = 0; i < n; i++)
            if (got[i] != want[i])
                fail("character %lu becomes %02x and not %02x", (unsigned long)i, got[i], want[i]);
        if (got_zeros > zeros + 15) fail("%lu zeros of %lu", (unsigned long)got_zeros,
                                         (unsigned long)zeros);
        if (got_zeros < zeros)
            fail("only %lu zeros of %lu", (unsigned long)got_zeros, (unsigned long)zeros);
    }
}

static void check_narrow(void) {
    static const uint32_t edges[] = {
        0,      1,      0x1F,   ' ',    '@',    'A',     'Z',     '[',     '`',     'a',      'z',
        '{',    0x7F,   0x80,   0x9F,   0xA0,   0xC0,    0xDF,    0xFF,    0x100,   0x141,    0x17F,
        0x200F, 0x2010, 0x201C, 0x202F, 0x2030, 0x2041,  0x7FFF,  0x8000,  0x8041,  0xA010,   0xD800,
        0xFF41, 0xFFFF, 0x10000, 0x10041, 0x12010, 0x1202F, 0x1F600, 0x10FFFF, 0x80000041,
        0xFFFF0041, 0xFFFFFFFF};
    static uint32_t chars[MOST];
    for (uint32_t first = 0; first < 0x20000; first += 64) { /* each one, in each lane */
        for (uint32_t i = 0; i < 64; i++) chars[i] = first + (i + first / 64) % 64;
        check_chars(chars, 64);
    }
    for (int round = 0; round < 300; round++) {
        size_t n = round < 284 ? (size_t)round % 71 : 4096 - 8 + (size_t)(round - 284);
        for (size_t i = 0; i < n; i++)
            if (round % 3 == 0)
                chars[i] = edges[below(sizeof edges / sizeof edges[0])];
            else if (round % 3 == 1)
                chars[i] = (uint32_t)(any() >> 32 >> below(32));
            else /* a few that are looked up, each alone */
                chars[i] = below(20) ? ' ' + below('~' - ' ' + 1) : 0xA0 + below(0x3000);
        check_chars(chars, n);
    }
}

/* ---- keys ---- */

static void check_load_key(void) {
    room in = new_room(64), keys = new_room(sizeof(pw_key));
    pw_key want, *got = place(keys, sizeof(pw_key), 1);
    for (int round = 0; round < 64 * 64 * 17; round++) {
        size_t cut = (size_t)round % 17;
        uint8_t *word = in.stop - 16 - round / 17 % 64;
        uint64_t hash, want_hash;
        for (int i = 0; i < 16; i++) word[i] = below(4) ? (uint8_t)any() : 0xFF;
        checking(word, 16, "pw_load_key(cut %lu)", (unsigned long)cut);
        hash = pw_load_key(word, cut, got);
        want_hash = pw_load_key_plain(word, cut, &want);
        if (memcmp(got, &want, sizeof want)) fail("another key");
        if (hash != want_hash) fail("another hash");
        /* What plain C must keep to as well, whatever the order of a number's bytes. */
        if (memcmp(got, word, 16 - cut)) fail("the key is not the word");
        for (size_t i = 16 - cut; i < 16; i++)
            if (((uint8_t *)got)[i]) fail("no zeros behind the word");
    }
}

static void check_same_key(void) {
    room in = new_room(2 * sizeof(pw_key)), other = new_room(2 * sizeof(pw_key));
    for (int round = 0; round < 4096; round++) {
        pw_key *a = (pw_key *)(void *)(in.stop - sizeof(pw_key) - (round & 8));
        pw_key *b = (pw_key *)(void *)(other.stop - sizeof(pw_key) - (round >> 1 & 8));
        uint8_t *byte = (uint8_t *)b + round % 16;
        a->low = round & 1 ? any() : 0;
        a->high = round & 2 ? any() : 0;
        for (int bit = -1; bit < 8; bit++) { /* the same, and all but for one bit */
            *b = *a;
            if (bit >= 0) *byte ^= (uint8_t)(1 << bit);
            checking(a, sizeof *a, "pw_same_key(bit %d of byte %d)", bit, round % 16);
            if (pw_same_key(a, b) != (bit < 0)) fail("%d", pw_same_key(a, b));
            if (pw_same_key_plain(a, b) != (bit < 0)) fail("plain C: %d", pw_same_key_plain(a, b));
        }
    }
}

/* ---- lists ---- */

static void check_words(size_t n) {
    static room starts_in, stops_in, cuts_in, longer_in;
    static uint16_t want_cuts[MOST + 8];
    static uint32_t want_longer[MOST + 8];
    static const uint16_t lengths[] = {0, 1, 15, 16, 17, 18, 31, 32, 33, 255, 256, 272, 8192, 32767};
    uint16_t *starts, *stops, *cuts;
    uint32_t *longer;
    size_t n_longer, want;
    if (starts_in.start == NULL) {
        starts_in = new_room((MOST + 8) * 2), stops_in = new_room((MOST + 8) * 2);
        cuts_in = new_room((MOST + 8) * 2), longer_in = new_room(MOST * 4);
    }
    starts = place(starts_in, (n + 7) * 2, 1), stops = place(stops_in, (n + 7) * 2, 1);
    cuts = place(cuts_in, (n + 7) * 2, 1), longer = place(longer_in, n * 4, 1);
    for (size_t i = 0; i < n + 7; i++) { /* of those behind the end, too, some are longer */
        uint32_t length = below(3) ? below(24) : lengths[below(sizeof lengths / sizeof lengths[0])];
        starts[i] = (uint16_t)below(MOST);
        stops[i] = (uint16_t)(starts[i] + length);
    }
    checking(stops, n * 2, "pw_cut_words(n %lu)", (unsigned long)n);
    n_longer = (size_t)(pw_cut_words(starts, stops, n, cuts, longer) - longer);
    want = (size_t)(pw_cut_words_plain(starts, stops, n, want_cuts, want_longer) - want_longer);
    for (size_t i = 0; i < n; i++)
        if (cuts[i] != want_cuts[i])
            fail("word %lu of %d bytes: cut %d", (unsigned long)i,
                 (uint16_t)(stops[i] - starts[i]), cuts[i]);
    if (n_longer != want) fail("%lu longer words and not %lu", (unsigned long)n_longer,
                               (unsigned long)want);
    for (size_t i = 0; i < want; i++)
        if (longer[i] != want_longer[i])
            fail("longer word %lu is %lu and not %lu", (unsigned long)i, (unsigned long)longer[i],
                 (unsigned long)want_longer[i]);
}

static void check_cut_words(void) {
    for (int round = 0; round < 20; round++)
        for (size_t n = 0; n <= 70; n++) check_words(n);
    for (size_t n = 4090; n <= 4104; n++) check_words(n);
    check_words(MOST);
}

static void check_mask(uint64_t mask, uint16_t base) {
    static room out;
    uint16_t want[65], *got;
    size_t n, want_n;
    if (out.start == NULL) out = new_room((64 + 32) * 2);
    checking(&mask, sizeof mask, "pw_list_bits(mask %08lx %08lx, base %d)",
             (unsigned long)(mask >> 32), (unsigned long)(mask & 0xFFFFFFFF), base);
    want_n = (size_t)(pw_list_bits_plain(mask, base, want) - want);
    got = place(out, (want_n + 32) * 2, 1);
    n = (size_t)(pw_list_bits(mask, base, got) - got);
    if (n != want_n) fail("%lu bits and not %lu", (unsigned long)n, (unsigned long)want_n);
    if (n != (size_t)pw_count_bits(mask)) fail("pw_count_bits: %d", pw_count_bits(mask));
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i]) fail("bit %lu: %d and not %d", (unsigned long)i, got[i], want[i]);
    if (mask && pw_lowest_bit(mask) != (uint16_t)(want[0] - base))
        fail("pw_lowest_bit: %d", pw_lowest_bit(mask));
}

static void check_list_bits(void) {
    for (uint32_t base = 0; base < 0x10000; base += PW_BLOCK) {
        check_mask(0, (uint16_t)base);
        check_mask(~(uint64_t)0, (uint16_t)base);
        check_mask((uint64_t)1 << base / PW_BLOCK % 64, (uint16_t)base);
        for (int i = 0; i < 16; i++) {
            check_mask(any(), (uint16_t)base);
            check_mask(any() & any() & any(), (uint16_t)base);
            check_mask(any() | any() | any(), (uint16_t)base);
        }
    }
    for (uint64_t byte = 0; byte < 256; byte++) /* each byte at each place */
        for (int i = 0; i < 64; i += 8) check_mask(byte << i, 64);
}

static void check_widen(void) {
    static const uint16_t edges[] = {0, 1, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF};
    room in = new_room(32), out = new_room(64);
    for (int round = 0; round < 4096; round++) { /* alignments of 2 and of 4 bytes */
        uint16_t *ids = (uint16_t *)(void *)(in.stop - 16 - round % 8 * 2);
        int32_t want[8], *got = (int32_t *)(void *)(out.stop - 32 - round / 8 % 4 * 4);
        for (int i = 0; i < 8; i++) ids[i] = below(2) ? edges[below(8)] : (uint16_t)any();
        checking(ids, 16, "pw_widen");
        pw_widen(ids, got);
        pw_widen_plain(ids, want);
        for (int i = 0; i < 8; i++)
            if (got[i] != want[i]) fail("id %d: %ld and not %ld", i, (long)got[i], (long)want[i]);
    }
}

static void check_all(void) {
    n_checks = 0;
    check_classify();
    check_narrow();
    check_load_key();
    check_same_key();
    check_cut_words();
    check_list_bits();
    check_widen();
    printf("%s: %lu calls as in plain C\n", set, n_checks);
}

int main(void) {
    signal(SIGSEGV, on_fault);
    signal(SIGBUS, on_fault);
    pw_prepare();
#ifdef PIECEWORK_AVX512
    if (pw_has_avx512) {
        set = "AVX-512";
        check_all();
        pw_has_avx512 = 0;
        set = PIECEWORK_VECTOR;
    }
#endif
    check_all();
    return 0;
}
