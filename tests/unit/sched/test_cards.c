/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs that are given whole or in shares, never both. */
#include "world.h"

/* One node with two GPUs of four shards each. */
static struct sched_cards two_cards(void) {
    return (struct sched_cards) {
        .n = 2, .whole = {5, 5}, .shares = {{.kind = 1, .units = {1, 1}}}, .n_shares = 1};
}

static void shared_world(struct world *w, const struct sched_cards *cards) {
    world_init(w, 1, 16, 1000);
    w->n_kinds = 2;
    w->kinds[0] = (struct sched_gres_kind) {"gpu", ""};
    w->kinds[1] = (struct sched_gres_kind) {"shard", ""};
    w->nodes[0].gres[0] = 2;
    w->nodes[0].gres[1] = 8;
    w->nodes[0].cards = cards;
    world_configure(w);
}

static uint32_t add(struct world *w, int16_t kind, uint32_t count, int64_t limit) {
    struct sched_job_spec spec = world_spec(w);

    spec.per_node[0] = (struct sched_gres_request) {kind, 0, count};
    spec.n_per_node = 1;
    spec.limit = limit;
    return world_add(w, &spec);
}

/* Which card a running job has shares of, or 9; all of it adds 10. */
static uint32_t card_of(struct world *w, uint32_t job_id) {
    const struct world_run *run = world_running(w, job_id);

    for (uint32_t c = 0; run && c < 2; c++) {
        if (run->allocs[0].cards[c] > 0)
            return c + (run->allocs[0].cards[c] == 5 ? 10 : 0);
    }
    return 9;
}

TEST(a_card_in_use_by_shares_is_not_given_whole) {
    struct sched_cards cards = two_cards();
    struct world w;

    shared_world(&w, &cards);
    uint32_t share = add(&w, 1, 1, 100), both = add(&w, 0, 2, 50), one = add(&w, 0, 1, 60);
    assert_int_equal(world_pass(&w), 2);
    assert_int_equal(card_of(&w, share), 0);
    assert_int_equal(card_of(&w, one), 11);
    assert_null(world_running(&w, both));
    w.now += 100;
    world_end_due(&w);
    assert_int_equal(world_pass(&w), 1);
    assert_int_equal(card_of(&w, both), 10);
    world_done(&w);
}

TEST(shares_fill_a_card_before_they_open_another) {
    struct sched_cards cards = two_cards();
    struct world w;

    shared_world(&w, &cards);
    uint32_t a = add(&w, 1, 3, 100), b = add(&w, 1, 2, 100), c = add(&w, 1, 1, 100);
    assert_int_equal(world_pass(&w), 3);
    assert_int_equal(card_of(&w, a), 0);
    assert_int_equal(card_of(&w, b), 1);
    assert_int_equal(card_of(&w, c), 0);
    uint32_t d = add(&w, 1, 3, 100), e = add(&w, 1, 2, 100);
    assert_int_equal(world_pass(&w), 1);
    assert_int_equal(card_of(&w, d), 9);
    assert_int_equal(card_of(&w, e), 1);
    world_done(&w);
}

TEST(a_whole_card_has_no_shares) {
    struct sched_cards cards = two_cards();
    struct world w;

    shared_world(&w, &cards);
    uint32_t whole = add(&w, 0, 2, 100), share = add(&w, 1, 1, 100);
    assert_int_equal(world_pass(&w), 1);
    assert_int_equal(card_of(&w, whole), 10);
    struct sched_plan plan;
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(sched_estimate(w.sched, w.now, share), w.now + 100);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(more_shares_than_one_card_has_are_refused_unless_a_job_may_have_several) {
    struct sched_cards cards = two_cards();
    struct world w;
    struct str before = STR_INIT;
    struct error err = ERROR_INIT;

    shared_world(&w, &cards);
    struct sched_job_spec spec = world_spec(&w);
    spec.per_node[0] = (struct sched_gres_request) {1, 0, 6};
    spec.n_per_node = 1;
    assert_int_equal(sched_feasible(w.sched, &spec, &before, &err), -ERR_NODE_CONFIG);
    assert_non_null(strstr(err.text, "shard:4"));
    str_done(&before);
    world_done(&w);

    cards.several = true;
    shared_world(&w, &cards);
    uint32_t job = add(&w, 1, 6, 100);
    assert_int_equal(world_pass(&w), 1);
    const struct world_run *run = world_running(&w, job);
    assert_int_equal(run->allocs[0].cards[0], 4);
    assert_int_equal(run->allocs[0].cards[1], 2);
    world_done(&w);
}

TEST(where_one_card_is_shared_at_a_time_the_others_stay_whole) {
    struct sched_cards cards = two_cards();
    struct world w;

    cards.shares[0].one_card = true;
    shared_world(&w, &cards);
    uint32_t first = add(&w, 1, 3, 100), second = add(&w, 1, 2, 100), gpu = add(&w, 0, 1, 100);
    assert_int_equal(world_pass(&w), 2);
    assert_int_equal(card_of(&w, first), 0);
    assert_int_equal(card_of(&w, second), 9);
    assert_int_equal(card_of(&w, gpu), 11);
    world_done(&w);
}

TEST(shares_go_to_the_emptiest_card_where_that_is_wanted) {
    struct sched_cards cards = two_cards();
    struct world w;

    cards.least_first = true;
    shared_world(&w, &cards);
    uint32_t a = add(&w, 1, 1, 100), b = add(&w, 1, 1, 100);
    assert_int_equal(world_pass(&w), 2);
    assert_int_equal(card_of(&w, a), 0);
    assert_int_equal(card_of(&w, b), 1);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_card_in_use_by_shares_is_not_given_whole),
        cmocka_unit_test(shares_fill_a_card_before_they_open_another),
        cmocka_unit_test(a_whole_card_has_no_shares),
        cmocka_unit_test(more_shares_than_one_card_has_are_refused_unless_a_job_may_have_several),
        cmocka_unit_test(where_one_card_is_shared_at_a_time_the_others_stay_whole),
        cmocka_unit_test(shares_go_to_the_emptiest_card_where_that_is_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
