/* SPDX-License-Identifier: Apache-2.0 */
/* The book where slurmdbd keeps it: what it says counts, is stored, and is known after a restart.
 */
#include "core/state.h"
#include "unit.h"
#include "world.h"

#define CLUSTER                                                                                    \
    "ClusterName=tux\nSlurmctldHost=localhost\nNodeName=n[1-2] CPUs=4 RealMemory=4000\n"           \
    "PartitionName=main Nodes=ALL Default=YES\nAccountingStorageEnforce=associations,qos\n"

static void begin(struct world *world) {
    world_start(world, CLUSTER);
    world->uid = 7;
    world_book(world, "add qos high priority=4");
    world_book(world, "add account physics");
    world_book(world, "add user user7 account=physics qos=high,normal");
}

/* What it tells, changed and sent back as another version. */
struct exchange {
    struct arena memory;
    struct dbd_book book;
};

static void tell(struct world *world, struct exchange *exchange) {
    arena_init(&exchange->memory, 0);
    core_book_tell(world->core, &exchange->memory, &exchange->book);
}

static void send_back(struct world *world, struct exchange *exchange, uint64_t version) {
    exchange->book.version = version;
    core_book_take(world->core, world->now, &exchange->book, &world->effects);
    world_turn(world);
    arena_done(&exchange->memory);
}

static struct assoc *of_user(struct exchange *exchange) {
    struct assoc_list *list = exchange->book.book;
    for (uint32_t i = 0; i < list->assocs.n; i++) {
        if (list->assocs.items[i].user != NULL && str_equal(list->assocs.items[i].user, "user7"))
            return &list->assocs.items[i];
    }
    fail_msg("user7 has no association");
    return NULL;
}

static const struct assoc *kept(struct world *world) {
    return assoc_find(&world->core->book, "physics", "user7", NULL);
}

TEST(what_slurmdbd_says_counts_and_is_there_after_a_restart) {
    struct world world;
    struct exchange exchange;
    struct str own cleanup_str = STR_INIT, later cleanup_str = STR_INIT;
    begin(&world);
    assert_true(core_book_own(world.core, &own));
    assert_non_null(strstr(own.data, "user7"));
    tell(&world, &exchange);
    assert_int_equal(exchange.book.version, 0);
    of_user(&exchange)->max_jobs = 3;
    exchange.book.book->accounts.items[0].description = text_of("theirs");
    send_back(&world, &exchange, 12);
    assert_int_equal(kept(&world)->max_jobs, 3);
    world_restart(&world);
    assert_int_equal(kept(&world)->max_jobs, 3);
    tell(&world, &exchange);
    assert_int_equal(exchange.book.version, 12);
    assert_false(core_book_own(world.core, &later));
    arena_done(&exchange.memory);
    world_book(&world, "add account more"); /* without slurmdbd again: our own from now on */
    world_restart(&world);
    tell(&world, &exchange);
    assert_int_equal(exchange.book.version, 0);
    assert_true(core_book_own(world.core, &later));
    arena_done(&exchange.memory);
    world_stop(&world);
}

TEST(a_job_that_counts_on_what_goes_is_found_and_held_when_it_goes_all_the_same) {
    struct world world;
    struct exchange exchange;
    struct error err = ERROR_INIT;
    struct job job;
    begin(&world);
    uint32_t id = world_job(&world);
    tell(&world, &exchange);
    struct assoc_list gone = {.assocs = {of_user(&exchange), 1}};
    struct dbd_book test = {.book = &gone};
    assert_int_equal(core_book_test(world.core, &test, &err), -ERR_BUSY);
    assert_non_null(strstr(err.text, "U = user7"));
    gone.assocs.items = exchange.book.book->assocs.items; /* root's */
    assert_int_equal(core_book_test(world.core, &test, &err), 0);
    struct assoc *mine = of_user(&exchange);
    *mine = exchange.book.book->assocs.items[--exchange.book.book->assocs.n];
    send_back(&world, &exchange, 2);
    assert_null(kept(&world));
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.reason, REASON_INVALID_ACCOUNT);
    assert_int_equal(job.priority, 0);
    world_stop(&world);
}

TEST(numbers_that_change_hands_take_what_was_used_along) {
    struct world world;
    struct exchange exchange;
    begin(&world);
    uint32_t normal = 0, high = 0;
    world_all_connect(&world);
    uint32_t job = world_job(&world);
    world_pass_time(&world, 100);
    world_script_ends(&world, job, 0);
    world_turn(&world);
    uint32_t old = kept(&world)->id;
    assert_true(usage_settled(world.core, ASSOC_ASSOC, old) > 0);
    double of_normal = usage_settled(world.core, ASSOC_QOS, 1);
    assert_true(of_normal > 0);
    tell(&world, &exchange);
    of_user(&exchange)->id = 77;
    struct assoc_list *list = exchange.book.book;
    for (uint32_t i = 0; i < list->qos.n; i++)
        list->qos.items[i].id = str_equal(list->qos.items[i].name, "high") ? 1 : 2;
    send_back(&world, &exchange, 2);
    normal = book_qos_find(&world.core->book, "normal")->id;
    high = book_qos_find(&world.core->book, "high")->id;
    assert_int_equal(normal, 2);
    assert_true(usage_settled(world.core, ASSOC_QOS, normal) >= of_normal);
    assert_true(usage_settled(world.core, ASSOC_QOS, high) < of_normal);
    assert_true(usage_settled(world.core, ASSOC_ASSOC, 77) > 0);
    world_restart(&world);
    assert_true(usage_settled(world.core, ASSOC_ASSOC, 77) > 0);
    assert_true(usage_settled(world.core, ASSOC_ASSOC, old) == 0);
    assert_int_equal(kept(&world)->id, 77);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_slurmdbd_says_counts_and_is_there_after_a_restart),
        cmocka_unit_test(
            a_job_that_counts_on_what_goes_is_found_and_held_when_it_goes_all_the_same),
        cmocka_unit_test(numbers_that_change_hands_take_what_was_used_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
