/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of integers as runs. Invariants: runs are sorted and do not interleave (one ends before the
 * next begins), so a binary search finds the only run that may hold an id; last is a member; a run
 * of one id has step 1.
 */
#include "text/idset.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/vec.h"

/* Specs whose steps cross are merged in a bitmap over their spread. */
#define SPREAD_MAX ((uint32_t) 1 << 26)

void idset_done(struct idset *set) {
    free(set->runs);
    *set = (struct idset) IDSET_INIT;
}

static bool run_is_single(const struct idset_run *run) {
    return run->first == run->last;
}

static uint64_t run_count(const struct idset_run *run) {
    return (uint64_t) (run->last - run->first) / run->step + 1;
}

/* Index of the first run that ends at or after id; set->n if none does. */
static size_t run_find(const struct idset *set, uint32_t id) {
    size_t low = 0, high = set->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->runs[middle].last < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- building ---- */

/* struct idset names its array `runs`, so vec's macros do not fit. */
static void run_insert(struct idset *set, size_t at, struct idset_run run) {
    if (set->n == set->capacity) {
        set->capacity = vec_grown(set->capacity, set->n + 1);
        set->runs = xreallocarray(set->runs, set->capacity, sizeof(*set->runs));
    }
    memmove(&set->runs[at + 1], &set->runs[at], (set->n - at) * sizeof(*set->runs));
    set->runs[at] = run;
    set->n++;
}

static void run_delete(struct idset *set, size_t at) {
    set->n--;
    memmove(&set->runs[at], &set->runs[at + 1], (set->n - at) * sizeof(*set->runs));
}

static struct idset_run run_make(uint32_t first, uint32_t last, uint32_t step) {
    return (struct idset_run) {first, last, first == last ? 1 : step};
}

/* Extends a by b, which begins after a ends, if one run can say both. */
static bool run_join(struct idset_run *a, const struct idset_run *b) {
    uint32_t gap = b->first - a->last;
    bool both_single = run_is_single(a) && run_is_single(b);
    if (both_single
            ? gap != 1
            : (!run_is_single(a) && a->step != gap) || (!run_is_single(b) && b->step != gap))
        return false;
    a->last = b->last;
    a->step = gap;
    return true;
}

static void run_append(struct idset *set, struct idset_run run) {
    if (set->n == 0 || !run_join(&set->runs[set->n - 1], &run))
        run_insert(set, set->n, run);
}

static int run_compare(const void *left, const void *right) {
    const struct idset_run *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Appends ids from an ascending stream; three in a row with one spacing become a run. */
static void id_append(struct idset *set, uint32_t id) {
    if (set->n >= 2) {
        struct idset_run *last = &set->runs[set->n - 1], *before = last - 1;
        uint32_t gap = id - last->first;
        if (run_is_single(last) && run_is_single(before) && last->first - before->first == gap) {
            before->last = id;
            before->step = gap;
            set->n--;
            return;
        }
    }
    run_append(set, run_make(id, id, 1));
}

/* Makes one sorted set of runs that may overlap and cross. */
static bool runs_normalise(struct idset *set) {
    if (set->n > 1)
        qsort(set->runs, set->n, sizeof(*set->runs), run_compare);
    struct idset merged = IDSET_INIT;
    bool crossing = false;
    for (size_t i = 0; i < set->n && !crossing; i++) {
        struct idset_run *last = merged.n ? &merged.runs[merged.n - 1] : NULL;
        const struct idset_run *run = &set->runs[i];
        if (!last || run->first > last->last)
            run_append(&merged, *run);
        else if (last->step == 1 && run->step == 1)
            last->last = max_of(last->last, run->last);
        else
            crossing = true;
    }
    if (crossing) {
        uint32_t low = set->runs[0].first, high = low;
        for (size_t i = 0; i < set->n; i++)
            high = max_of(high, set->runs[i].last);
        if (high - low >= SPREAD_MAX) {
            idset_done(&merged);
            return false;
        }
        struct bits ids;
        bits_init(&ids, (size_t) (high - low) + 1);
        for (size_t i = 0; i < set->n; i++) {
            for (uint64_t id = set->runs[i].first; id <= set->runs[i].last; id += set->runs[i].step)
                bits_set(&ids, id - low);
        }
        merged.n = 0;
        bits_each (&ids, i) {
            id_append(&merged, low + (uint32_t) i);
        }
        bits_done(&ids);
    }
    idset_done(set);
    *set = merged;
    return true;
}

/* ---- parsing ---- */

struct parser {
    const char *text, *at;
    uint32_t max;
    struct error *err;
};

static int parser_fail(struct parser *parser, const char *why) {
    return error_set(parser->err, ERR_INVALID_ARRAY,
                     "Invalid job array specification \"%.64s\": %s", parser->text, why);
}

static void blanks_skip(struct parser *parser) {
    parser->at += strspn(parser->at, " \t\n");
}

static int number_parse(struct parser *parser, uint32_t max, const char *what, uint32_t *ret) {
    uint64_t value = 0;
    const char *start = parser->at;
    for (; *parser->at >= '0' && *parser->at <= '9'; parser->at++) {
        value = value * 10 + (uint64_t) (*parser->at - '0');
        if (value > max)
            return error_set(parser->err, ERR_INVALID_ARRAY,
                             "Invalid job array specification \"%.64s\": the %s is above %u",
                             parser->text, what, max);
    }
    if (parser->at == start)
        return parser_fail(parser, "a number is missing; the form is 1,3,5-9,10-100:5%limit");
    *ret = (uint32_t) value;
    return 0;
}

/* i, a-b or a-b:step */
static int run_parse(struct parser *parser, struct idset_run *ret) {
    uint32_t first, last, step = 1;
    int r = number_parse(parser, parser->max, "index", &first);
    if (r < 0)
        return r;
    last = first;
    if (*parser->at == '-') {
        parser->at++;
        r = number_parse(parser, parser->max, "index", &last);
        if (r < 0)
            return r;
        if (last < first)
            return parser_fail(parser, "a range runs backwards");
        if (*parser->at == ':') {
            parser->at++;
            r = number_parse(parser, UINT32_MAX, "step", &step);
            if (r < 0)
                return r;
            if (step == 0)
                return parser_fail(parser, "a step must be 1 or more");
        }
    }
    *ret = run_make(first, last - (last - first) % step, step);
    return 0;
}

/* Runs separated by commas; empty ones are let pass ("1,2,"), as scripts leave them. */
static int runs_parse(struct parser *parser, struct idset *set) {
    for (;;) {
        blanks_skip(parser);
        if (*parser->at == ',') {
            parser->at++;
            continue;
        }
        if (*parser->at == '\0' || *parser->at == '%' || *parser->at == ']')
            return set->n ? 0 : parser_fail(parser, "it has no index");
        struct idset_run run;
        int r = run_parse(parser, &run);
        if (r < 0)
            return r;
        blanks_skip(parser);
        if (*parser->at && !strchr(",%]", *parser->at))
            return parser_fail(parser, "the form is 1,3,5-9,10-100:5%limit");
        run_insert(set, set->n, run);
    }
}

static int limit_parse(struct parser *parser, bool wanted, uint32_t *ret_limit) {
    if (*parser->at != '%')
        return 0;
    parser->at++;
    if (!wanted)
        return parser_fail(parser, "a limit (%) is not allowed here");
    return number_parse(parser, UINT32_MAX - 1, "limit", ret_limit);
}

int idset_parse(struct idset *set, const char *text, uint32_t max, uint32_t *ret_limit,
                struct error *err) {
    cleanup_idset struct idset parsed = IDSET_INIT;
    struct parser parser = {text, text, max, err};
    uint32_t limit = 0;
    blanks_skip(&parser);
    bool bracket = *parser.at == '[';
    parser.at += bracket;
    int r = runs_parse(&parser, &parsed);
    if (r < 0)
        return r;
    bool inner_limit = *parser.at == '%';
    r = limit_parse(&parser, ret_limit != NULL, &limit);
    if (r < 0)
        return r;
    if (bracket) {
        if (*parser.at != ']')
            return parser_fail(&parser, "a ] is missing");
        parser.at++;
        if (!inner_limit) {
            r = limit_parse(&parser, ret_limit != NULL, &limit);
            if (r < 0)
                return r;
        }
    }
    blanks_skip(&parser);
    if (*parser.at)
        return parser_fail(&parser, "the form is 1,3,5-9,10-100:5%limit");
    if (!runs_normalise(&parsed))
        return parser_fail(&parser, "its steps cross over too wide a range");
    idset_done(set);
    *set = parsed;
    parsed = (struct idset) IDSET_INIT;
    if (ret_limit)
        *ret_limit = limit;
    return 0;
}

/* ---- asking and changing ---- */

uint64_t idset_count(const struct idset *set) {
    uint64_t count = 0;
    for (size_t i = 0; i < set->n; i++)
        count += run_count(&set->runs[i]);
    return count;
}

static bool run_contains(const struct idset_run *run, uint32_t id) {
    return id >= run->first && id <= run->last && (id - run->first) % run->step == 0;
}

bool idset_contains(const struct idset *set, uint32_t id) {
    size_t i = run_find(set, id);
    return i < set->n && run_contains(&set->runs[i], id);
}

bool idset_remove(struct idset *set, uint32_t id) {
    size_t i = run_find(set, id);
    if (i == set->n || !run_contains(&set->runs[i], id))
        return false;
    struct idset_run run = set->runs[i];
    if (run_is_single(&run)) {
        run_delete(set, i);
    } else if (id == run.first) {
        set->runs[i] = run_make(run.first + run.step, run.last, run.step);
    } else if (id == run.last) {
        set->runs[i] = run_make(run.first, run.last - run.step, run.step);
    } else {
        set->runs[i] = run_make(run.first, id - run.step, run.step);
        run_insert(set, i + 1, run_make(id + run.step, run.last, run.step));
    }
    return true;
}

bool idset_add(struct idset *set, uint32_t id) {
    size_t i = run_find(set, id);
    if (i < set->n && run_contains(&set->runs[i], id))
        return false;
    if (i < set->n && id > set->runs[i].first) {
        /* Between two members of a stepped run: the run splits around it. */
        struct idset_run run = set->runs[i];
        uint32_t below = id - (id - run.first) % run.step;
        set->runs[i] = run_make(run.first, below, run.step);
        run_insert(set, ++i, run_make(below + run.step, run.last, run.step));
    }
    run_insert(set, i, run_make(id, id, 1));
    if (i + 1 < set->n && run_join(&set->runs[i], &set->runs[i + 1]))
        run_delete(set, i + 1);
    if (i > 0 && run_join(&set->runs[i - 1], &set->runs[i]))
        run_delete(set, i);
    return true;
}

uint32_t idset_min(const struct idset *set) {
    assert(set->n > 0);
    return set->runs[0].first;
}

uint32_t idset_max(const struct idset *set) {
    assert(set->n > 0);
    return set->runs[set->n - 1].last;
}

bool idset_next(const struct idset *set, uint32_t from, uint32_t *ret_id) {
    size_t i = run_find(set, from);
    if (i == set->n)
        return false;
    const struct idset_run *run = &set->runs[i];
    uint32_t id = run->first;
    if (from > id) {
        /* Cannot pass run->last, which is a member and not below from. */
        uint32_t beyond = (from - run->first) % run->step;
        id = beyond ? from + (run->step - beyond) : from;
    }
    *ret_id = id;
    return true;
}

void idset_copy(struct idset *dst, const struct idset *src) {
    if (dst == src)
        return;
    idset_done(dst);
    if (src->n == 0)
        return;
    dst->runs = xmemdup(src->runs, src->n * sizeof(*src->runs));
    dst->n = dst->capacity = src->n;
}

/* The part of `run` from id to at most `limit`; returns where the rest begins. */
static uint64_t run_part(const struct idset_run *run, uint32_t id, uint32_t limit,
                         struct idset *target) {
    uint32_t last = id + (min_of(limit, run->last) - id) / run->step * run->step;
    run_append(target, run_make(id, last, run->step));
    return (uint64_t) last + run->step;
}

void idset_divide(const struct idset *set, const struct idset *by, struct idset *ret_inside,
                  struct idset *ret_outside) {
    struct idset inside = IDSET_INIT, outside = IDSET_INIT;
    for (size_t i = 0; i < set->n; i++) {
        const struct idset_run *run = &set->runs[i];
        for (uint64_t at = run->first; at <= run->last;) {
            uint32_t id = (uint32_t) at;
            size_t k = run_find(by, id);
            const struct idset_run *other = k < by->n ? &by->runs[k] : NULL;
            if (other == NULL) {
                at = run_part(run, id, run->last, &outside);
            } else if (id < other->first) {
                at = run_part(run, id, other->first - 1, &outside);
            } else if (other->step == 1) {
                at = run_part(run, id, other->last, &inside);
            } else {
                id_append(run_contains(other, id) ? &inside : &outside, id);
                at += run->step;
            }
        }
    }
    idset_done(ret_inside);
    idset_done(ret_outside);
    *ret_inside = inside;
    *ret_outside = outside;
}

/* ---- printing ---- */

/* The one distance between all neighbours, 0 if it varies or there are not two ids. */
static uint32_t set_spacing(const struct idset *set) {
    uint32_t spacing = 0;
    for (size_t i = 0; i < set->n; i++) {
        const struct idset_run *run = &set->runs[i];
        uint32_t gap = i ? run->first - set->runs[i - 1].last : spacing;
        uint32_t step = run_is_single(run) ? 0 : run->step;
        if (spacing == 0)
            spacing = gap ? gap : step;
        if ((i && gap != spacing) || (step && step != spacing))
            return 0;
    }
    return spacing;
}

static void range_print(uint32_t low, uint32_t high, bool first, struct str *out) {
    if (!first)
        str_append_char(out, ',');
    str_append_u64(out, low);
    if (high > low) {
        str_append_char(out, '-');
        str_append_u64(out, high);
    }
}

/* Ranges and commas; stops once `enough` characters are there. */
static void ranges_print(const struct idset *set, struct str *out, size_t enough) {
    size_t start = out->length;
    bool first = true, pending = false;
    uint32_t low = 0, high = 0;
    for (size_t i = 0; i < set->n; i++) {
        const struct idset_run *run = &set->runs[i];
        for (uint64_t id = run->first; id <= run->last; id += run->step) {
            if (pending && id != (uint64_t) high + 1) {
                range_print(low, high, first, out);
                first = pending = false;
                if (out->length - start > enough)
                    return;
            }
            if (!pending)
                low = (uint32_t) id;
            pending = true;
            high = run->step == 1 ? run->last : (uint32_t) id;
            if (run->step == 1)
                break;
        }
    }
    if (pending)
        range_print(low, high, first, out);
}

void idset_print(const struct idset *set, struct str *out, size_t max_bytes) {
    size_t start = out->length;
    size_t room = max_bytes ? max_bytes - 1 : SIZE_MAX;
    uint32_t spacing = set_spacing(set);
    if (spacing > 1 && idset_count(set) > 5 && idset_max(set) - idset_min(set) > 10) {
        range_print(idset_min(set), idset_max(set), true, out);
        str_append_char(out, ':');
        str_append_u64(out, spacing);
    } else {
        ranges_print(set, out, room);
    }
    if (out->length - start <= room)
        return;
    size_t n_dots = min_of(room, (size_t) 3);
    out->length = start + room;
    memset(out->data + out->length - n_dots, '.', n_dots);
    out->data[out->length] = '\0';
}
