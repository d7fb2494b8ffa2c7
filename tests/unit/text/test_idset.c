/* SPDX-License-Identifier: Apache-2.0 */
/* Array specs: grammar, display, and random changes beside an array of bools. */
#include "text/idset.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "unit.h"

#define MAX 100000

static char *shown(const char *spec, size_t max_bytes) {
    cleanup_idset struct idset set = IDSET_INIT;
    cleanup_str struct str text = STR_INIT;
    uint32_t limit;
    struct error err = ERROR_INIT;
    if (idset_parse(&set, spec, MAX, &limit, &err) < 0)
        return xstrdup(err.text);
    idset_print(&set, &text, max_bytes);
    if (limit)
        str_printf(&text, "%%%u", limit);
    return str_take(&text);
}

TEST(specs_are_shown_as_squeue_shows_them) {
    static const struct {
        const char *spec, *text;
    } cases[] = {
        {"1-10", "1-10"},
        {"0-100:5", "0-100:5"},
        {"1,3,7", "1,3,7"},
        {"1,3,5,7,9%2", "1,3,5,7,9%2"},
        {"1-100:3", "1-100:3"},
        {"[1-3]", "1-3"},
        {"[1-3]%2", "1-3%2"},
        {"[1-3%2]", "1-3%2"},
        {"1-3%0", "1-3"},
        {"1-1", "1"},
        {"1-10:20", "1"},
        {"1,1,1", "1"},
        {"1-3,2-5", "1-5"},
        {"5,1-3,4", "1-5"},
        {"1,", "1"},
        {",1", "1"},
        {"1,,2", "1-2"},
        {" 1, 3 ", "1,3"},
        {"100000", "100000"},
        {"0,2,4,6,8,10", "0,2,4,6,8,10"},
        {"0,2,4,6,8,10,12", "0-12:2"},
        {"12,10,8,6,4,2,0", "0-12:2"},
        {"0,2,4,6,8,12", "0,2,4,6,8,12"},
        {"0-10:2", "0,2,4,6,8,10"},
        {"2-12:2", "2,4,6,8,10,12"},
        {"1-13:2", "1-13:2"},
        {"0-8:2,10,12", "0-12:2"},
        {"0,1,2,3,4,10", "0-4,10"},
        {"1,2,3,5,6,7,20-30", "1-3,5-7,20-30"},
        {"1,11,21,31,41", "1,11,21,31,41"},
        {"1,11,21,31,41,51", "1-51:10"},
        {"0-100:2,0-100:3", "0,2-4,6,8-10,12,14-16,18,20-22,24,26-28,30,32-34,36,38-40,42,44-46,48,"
                            "50-52,54,56-58,60,62-64,66,68-70,72,74-76,78,80-82,84,86-88,90,92-94,"
                            "96,98-100"},
    };
    for (size_t i = 0; i < countof(cases); i++) {
        cleanup_free char *text = shown(cases[i].spec, 0);
        assert_string_equal(text, cases[i].text);
    }
}

TEST(long_texts_end_with_dots_at_the_size_of_the_buffer) {
    static const char spec[] = "0-10000:3,5,7,9,11,14,16,19,20";
    cleanup_free char *of_64 = shown(spec, 64), *of_20 = shown(spec, 20);
    assert_string_equal(of_64, "0,3,5-7,9,11-12,14-16,18-21,24,27,30,33,36,39,42,45,48,51,54...");
    assert_string_equal(of_20, "0,3,5-7,9,11-12,...");
    cleanup_free char *fits = shown("1,3,5", 6), *just_not = shown("1,3,5", 5);
    assert_string_equal(fits, "1,3,5");
    assert_string_equal(just_not, "1...");
    cleanup_free char *tiny = shown("1,3,5", 1);
    assert_string_equal(tiny, "");
}

TEST(malformed_specs_are_refused_and_change_nothing) {
    static const char *const bad[] = {"",
                                      ",",
                                      "[]",
                                      "3-1",
                                      "1-10:0",
                                      "1-",
                                      "-1",
                                      "1-2-3",
                                      "1:2",
                                      "1-5:2:3",
                                      "1 -3",
                                      "100001",
                                      "1-100001",
                                      "99999999999999999999",
                                      "1-3%",
                                      "1-3%x",
                                      "1-3%1%2",
                                      "[1-3]%1x",
                                      "[1-3",
                                      "1-3]",
                                      "1-3%4294967296",
                                      "a",
                                      "1;2",
                                      "[1%1]%2",
                                      "1-3:99999999999"};
    cleanup_idset struct idset set = IDSET_INIT;
    uint32_t limit = 5;
    assert_int_equal(idset_parse(&set, "7", MAX, NULL, NULL), 0);
    for (size_t i = 0; i < countof(bad); i++) {
        struct error err = ERROR_INIT;
        assert_int_equal(idset_parse(&set, bad[i], MAX, &limit, &err), -ERR_INVALID_ARRAY);
        assert_int_equal(limit, 5);
        assert_int_equal(idset_count(&set), 1);
        assert_true(str_starts(err.text, "Invalid job array specification"));
    }
    assert_int_equal(idset_parse(&set, "1%2", MAX, NULL, NULL), -ERR_INVALID_ARRAY);
}

TEST(an_index_above_the_maximum_is_named_with_the_bound) {
    cleanup_free char *text = shown("1-100001", 0);
    assert_non_null(strstr(text, "above 100000"));
}

TEST(a_million_tasks_are_one_run) {
    cleanup_idset struct idset set = IDSET_INIT;
    assert_int_equal(idset_parse(&set, "0-999999", 4000000, NULL, NULL), 0);
    assert_int_equal(set.n, 1);
    assert_int_equal(idset_count(&set), 1000000);
    assert_int_equal(idset_parse(&set, "0-3999999:3,1", 4000000, NULL, NULL), 0);
    assert_in_range(set.n, 1, 4);
}

TEST(extreme_ids_do_not_overflow) {
    cleanup_idset struct idset set = IDSET_INIT;
    cleanup_str struct str text = STR_INIT;
    uint32_t id;
    assert_int_equal(idset_parse(&set, "4294967290-4294967295:2,0", UINT32_MAX, NULL, NULL), 0);
    assert_true(idset_add(&set, UINT32_MAX));
    assert_true(idset_next(&set, UINT32_MAX, &id));
    assert_int_equal(id, UINT32_MAX);
    idset_print(&set, &text, 0);
    assert_string_equal(str_cstr(&text), "0,4294967290,4294967292,4294967294-4294967295");
    assert_int_equal(idset_parse(&set, "0-4294967295", UINT32_MAX, NULL, NULL), 0);
    assert_true(idset_count(&set) == (uint64_t) 1 << 32);
    assert_int_equal(idset_parse(&set, "0-4294967295:2,0-4294967295:3", UINT32_MAX, NULL, NULL),
                     -ERR_INVALID_ARRAY);
}

/* ---- against a naive set ---- */

#define SPREAD 300

static void sets_equal(const struct idset *set, const bool *naive) {
    uint64_t count = 0;
    for (uint32_t id = 0, next = 0; id < SPREAD; id++) {
        bool found = idset_next(set, id, &next);
        assert_int_equal(idset_contains(set, id), naive[id]);
        assert_int_equal(found && next == id, naive[id]);
        count += naive[id];
    }
    assert_int_equal(idset_count(set), count);
    for (size_t i = 0; i < set->n; i++) {
        const struct idset_run *run = &set->runs[i];
        assert_true(run->step >= 1 && run->first <= run->last);
        assert_int_equal((run->last - run->first) % run->step, 0);
        assert_true(i == 0 || set->runs[i - 1].last < run->first);
    }
}

static void spec_random(struct rng *rng, struct str *spec, bool *naive) {
    for (uint64_t n = rng_below(rng, 6) + 1; n > 0; n--) {
        uint32_t first = (uint32_t) rng_below(rng, SPREAD);
        uint32_t last = first + (uint32_t) rng_below(rng, SPREAD - first);
        uint32_t step = (uint32_t) rng_below(rng, 6) + 1;
        if (rng_below(rng, 2)) {
            last = first;
            str_join(spec, ",", "");
            str_printf(spec, "%u", first);
        } else {
            str_join(spec, ",", "");
            str_printf(spec, "%u-%u:%u", first, last, step);
        }
        for (uint32_t id = first; id <= last; id += step)
            naive[id] = true;
    }
}

TEST(random_specs_hold_what_they_name_and_survive_printing) {
    struct rng rng;
    rng_seed(&rng, 51);
    for (int round = 0; round < 2000; round++) {
        cleanup_idset struct idset set = IDSET_INIT, again = IDSET_INIT;
        cleanup_str struct str spec = STR_INIT, text = STR_INIT;
        bool naive[SPREAD] = {false};
        spec_random(&rng, &spec, naive);
        assert_int_equal(idset_parse(&set, str_cstr(&spec), SPREAD, NULL, NULL), 0);
        sets_equal(&set, naive);
        idset_print(&set, &text, 0);
        assert_int_equal(idset_parse(&again, str_cstr(&text), SPREAD, NULL, NULL), 0);
        sets_equal(&again, naive);
    }
}

TEST(random_additions_and_removals_agree_with_the_naive_set) {
    struct rng rng;
    rng_seed(&rng, 52);
    for (int round = 0; round < 60; round++) {
        cleanup_idset struct idset set = IDSET_INIT, copy = IDSET_INIT;
        cleanup_str struct str spec = STR_INIT;
        bool naive[SPREAD] = {false};
        spec_random(&rng, &spec, naive);
        assert_int_equal(idset_parse(&set, str_cstr(&spec), SPREAD, NULL, NULL), 0);
        for (int i = 0; i < 200; i++) {
            uint32_t id = (uint32_t) rng_below(&rng, SPREAD);
            bool add = rng_below(&rng, 2);
            bool changed = add ? idset_add(&set, id) : idset_remove(&set, id);
            assert_int_equal(changed, naive[id] != add);
            naive[id] = add;
        }
        sets_equal(&set, naive);
        idset_copy(&copy, &set);
        sets_equal(&copy, naive);
    }
}

TEST(tasks_that_start_in_order_leave_one_run) {
    cleanup_idset struct idset set = IDSET_INIT;
    assert_int_equal(idset_parse(&set, "1-1000:2", MAX, NULL, NULL), 0);
    for (uint32_t id = 1; id < 800; id += 2)
        assert_true(idset_remove(&set, id));
    assert_int_equal(set.n, 1);
    assert_int_equal(idset_min(&set), 801);
    assert_int_equal(idset_max(&set), 999);
    for (uint32_t id = 801; id <= 999; id += 2)
        assert_true(idset_remove(&set, id));
    assert_int_equal(set.n, 0);
    assert_int_equal(idset_count(&set), 0);
}

TEST(a_set_is_divided_as_a_naive_one_would_be) {
    struct rng rng;
    rng_seed(&rng, 7);
    for (int round = 0; round < 400; round++) {
        cleanup_idset struct idset set = IDSET_INIT, by = IDSET_INIT;
        cleanup_idset struct idset inside = IDSET_INIT, outside = IDSET_INIT;
        char spec[2][64];
        for (int i = 0; i < 2; i++) {
            unsigned low = (unsigned) rng_below(&rng, 40);
            snprintf(spec[i], sizeof(spec[i]), "%u-%u:%u,%u", low,
                     low + (unsigned) rng_below(&rng, 60), 1 + (unsigned) rng_below(&rng, 4),
                     (unsigned) rng_below(&rng, 120));
        }
        assert_int_equal(idset_parse(&set, spec[0], MAX, NULL, NULL), 0);
        assert_int_equal(idset_parse(&by, spec[1], MAX, NULL, NULL), 0);
        idset_divide(&set, &by, &inside, &outside);
        for (uint32_t id = 0; id < 130; id++) {
            bool in = idset_contains(&set, id), of = idset_contains(&by, id);
            assert_int_equal(idset_contains(&inside, id), in && of);
            assert_int_equal(idset_contains(&outside, id), in && !of);
        }
        assert_int_equal(idset_count(&inside) + idset_count(&outside), idset_count(&set));
    }
}

TEST(half_of_a_million_is_divided_off_as_one_run) {
    cleanup_idset struct idset set = IDSET_INIT, by = IDSET_INIT;
    assert_int_equal(idset_parse(&set, "0-999999", 1000000, NULL, NULL), 0);
    assert_int_equal(idset_parse(&by, "500000-2000000", 2000000, NULL, NULL), 0);
    cleanup_idset struct idset inside = IDSET_INIT;
    idset_divide(&set, &by, &inside, &set);
    assert_int_equal(inside.n, 1);
    assert_int_equal(set.n, 1);
    assert_int_equal(idset_max(&set), 499999);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specs_are_shown_as_squeue_shows_them),
        cmocka_unit_test(long_texts_end_with_dots_at_the_size_of_the_buffer),
        cmocka_unit_test(malformed_specs_are_refused_and_change_nothing),
        cmocka_unit_test(an_index_above_the_maximum_is_named_with_the_bound),
        cmocka_unit_test(a_million_tasks_are_one_run),
        cmocka_unit_test(extreme_ids_do_not_overflow),
        cmocka_unit_test(random_specs_hold_what_they_name_and_survive_printing),
        cmocka_unit_test(random_additions_and_removals_agree_with_the_naive_set),
        cmocka_unit_test(tasks_that_start_in_order_leave_one_run),
        cmocka_unit_test(a_set_is_divided_as_a_naive_one_would_be),
        cmocka_unit_test(half_of_a_million_is_divided_off_as_one_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
