/* SPDX-License-Identifier: Apache-2.0 */
/* The book of accounts in the core: what a job gets from it, and that it is stored. */
#include <stdio.h>

#include "unit.h"
#include "world.h"

#define CLUSTER                                                                                    \
    "ClusterName=tux\nSlurmctldHost=localhost\nNodeName=n[1-2] CPUs=4 RealMemory=4000\n"           \
    "PartitionName=main Nodes=ALL Default=YES\nPartitionName=gpu Nodes=n1\n"

static uint32_t submit(struct world *world, const char *account, const char *qos, int *ret_code) {
    struct job_request request;
    world_request(&request);
    request.account = (char *) (uintptr_t) account;
    request.qos = (char *) (uintptr_t) qos;
    return world_submit(world, &request, ret_code);
}

static void begin(struct world *world, const char *settings) {
    cleanup_free char *conf = xasprintf("%s%s", CLUSTER, settings);
    world_start(world, conf);
    world->uid = 7;
    world_book(world, "add account physics,optics");
    world_book(world, "add qos high");
    world_book(world, "add user user7 account=physics,optics");
}

TEST(a_job_gets_the_default_account_and_qos_of_its_user) {
    struct world world;
    struct job job;
    begin(&world, "");
    uint32_t id = submit(&world, NULL, NULL, NULL);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.account, "physics");
    assert_string_equal(job.qos, "normal");
    world_book(&world, "modify user user7 set qos=high defaultqos=high");
    id = submit(&world, "optics", NULL, NULL);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.account, "optics");
    assert_string_equal(job.qos, "high");
    world_stop(&world);
}

TEST(without_enforcement_anything_may_be_named) {
    struct world world;
    int code;
    begin(&world, "");
    assert_int_not_equal(submit(&world, "zz", "yy", &code), 0);
    world.uid = 8;
    assert_int_not_equal(submit(&world, NULL, NULL, &code), 0);
    world_stop(&world);
}

TEST(with_enforcement_only_what_the_book_allows) {
    struct world world;
    int code;
    begin(&world, "AccountingStorageEnforce=associations,qos\n");
    assert_int_not_equal(submit(&world, NULL, NULL, &code), 0);
    assert_int_equal(submit(&world, "zz", NULL, &code), 0);
    assert_int_equal(code, ERR_INVALID_ACCOUNT);
    assert_int_equal(submit(&world, NULL, "high", &code), 0);
    assert_int_equal(code, ERR_INVALID_QOS);
    assert_int_equal(submit(&world, NULL, "zz", &code), 0);
    assert_int_equal(code, ERR_INVALID_QOS);
    world_book(&world, "modify user user7 account=physics set qos+=high");
    assert_int_not_equal(submit(&world, NULL, "high", &code), 0);
    assert_int_equal(submit(&world, "optics", "high", &code), 0);
    world.uid = 8;
    assert_int_equal(submit(&world, NULL, NULL, &code), 0);
    assert_int_equal(code, ERR_INVALID_ACCOUNT);
    world_stop(&world);
}

TEST(an_association_for_a_partition_lets_in_there_alone) {
    struct world world;
    struct job_request request;
    int code;
    begin(&world, "AccountingStorageEnforce=associations\n");
    world_book(&world, "add user user8 account=physics partition=gpu");
    world.uid = 8;
    world_request(&request);
    assert_int_equal(world_submit(&world, &request, &code), 0);
    assert_int_equal(code, ERR_INVALID_ACCOUNT);
    request.partition = (char *) (uintptr_t) "gpu";
    assert_int_not_equal(world_submit(&world, &request, &code), 0);
    world_stop(&world);
}

TEST(the_book_survives_a_restart) {
    struct world world;
    struct job job;
    begin(&world, "");
    world_book(&world, "modify user user7 set defaultaccount=optics");
    world_book(&world, "delete user user7 account=physics");
    world_book(&world, "delete account physics");
    world_restart(&world);
    world_all_connect(&world);
    uint32_t id = submit(&world, NULL, NULL, NULL);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.account, "optics");
    assert_int_equal(world_sacctmgr(&world, "delete account physics"), -1);
    assert_int_equal(world_sacctmgr(&world, "add qos high"), -1);
    world_stop(&world);
}

/* A job that runs is charged to what it has started with, though another association has a nearer
 * name by now. */
TEST(an_association_that_was_made_after_a_job_started_can_be_deleted) {
    struct world world;
    begin(&world, "");
    world_all_connect(&world);
    uint32_t job = submit(&world, "physics", NULL, NULL);
    assert_int_equal(world_state(&world, job), JOB_RUNNING);
    world_book(&world, "add user user7 account=physics partition=main");
    world_book(&world, "delete user user7 account=physics partition=main");
    assert_int_equal(world_sacctmgr(&world, "delete user user7 account=physics"), ERR_BUSY);
    world_stop(&world);
}

TEST(what_a_job_counts_on_cannot_be_deleted) {
    struct world world;
    char id[16];
    begin(&world, "");
    uint32_t job = submit(&world, "physics", "high", NULL);
    assert_int_equal(world_sacctmgr(&world, "delete qos high"), ERR_BUSY);
    assert_int_equal(world_sacctmgr(&world, "delete user user7"), ERR_BUSY);
    assert_int_equal(world_sacctmgr(&world, "delete account physics"), ERR_BUSY);
    world_book(&world, "delete user user7 account=optics");
    snprintf(id, sizeof(id), "%u", job);
    assert_int_equal(world_kill(&world, id), 0);
    world_pass_time(&world, 40);
    world_book(&world, "delete account physics");
    world_book(&world, "delete qos high");
    world_stop(&world);
}

TEST(operators_act_on_jobs_and_administrators_on_nodes) {
    struct world world;
    begin(&world, "");
    uint32_t job = submit(&world, NULL, NULL, NULL);
    char id[16];
    snprintf(id, sizeof(id), "%u", job);
    world.uid = 8;
    assert_int_equal(world_update(&world, "job", id, "Comment", "mine"), ERR_USER_ID);
    world_book(&world, "add user user8 account=physics adminlevel=operator");
    assert_int_equal(world_update(&world, "job", id, "Comment", "yours"), 0);
    assert_int_not_equal(world_update(&world, "node", "n2", "Comment", "mine"), 0);
    world_book(&world, "modify user user8 set adminlevel=administrator");
    assert_int_equal(world_update(&world, "node", "n2", "Comment", "mine"), 0);
    world_book(&world, "modify user user8 set adminlevel=none");
    assert_int_equal(world_update(&world, "job", id, "Comment", "mine"), ERR_USER_ID);
    world_stop(&world);
}

static const struct assoc_list *list(struct world *world, uint32_t uid, struct arena *arena) {
    struct empty empty = {false};
    uint32_t old = world->uid;
    world->uid = uid;
    uint64_t client = world_send(world, MSG_LIST_ASSOC, &empty);
    world->uid = old;
    const struct assoc_list *reply = world_answer(world, client, MSG_ASSOC_LIST, arena);
    assert_non_null(reply);
    return reply;
}

TEST(listings_are_in_the_order_of_the_tree_and_private_if_so_configured) {
    struct world world;
    struct arena arena;
    begin(&world, "PrivateData=accounts,users\n");
    arena_init(&arena, 0);
    world_book(&world, "add account lasers parent=optics");
    world_book(&world, "add user user8 account=lasers");
    const struct assoc_list *all = list(&world, 0, &arena);
    static const char *const order[] = {"root",   "root",   "optics",  "optics",
                                        "lasers", "lasers", "physics", "physics"};
    assert_int_equal(all->assocs.n, countof(order));
    for (size_t i = 0; i < countof(order); i++)
        assert_string_equal(all->assocs.items[i].account, order[i]);
    assert_string_equal(all->cluster, "tux");
    const struct assoc_list *own = list(&world, 8, &arena);
    assert_int_equal(own->assocs.n, 2);
    assert_string_equal(own->assocs.items[1].user, "user8");
    assert_int_equal(own->users.n, 1);
    world_book(&world, "add coordinator account=optics names=user8");
    assert_int_equal(list(&world, 8, &arena)->assocs.n, 4);
    arena_done(&arena);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_gets_the_default_account_and_qos_of_its_user),
        cmocka_unit_test(without_enforcement_anything_may_be_named),
        cmocka_unit_test(with_enforcement_only_what_the_book_allows),
        cmocka_unit_test(an_association_for_a_partition_lets_in_there_alone),
        cmocka_unit_test(the_book_survives_a_restart),
        cmocka_unit_test(an_association_that_was_made_after_a_job_started_can_be_deleted),
        cmocka_unit_test(what_a_job_counts_on_cannot_be_deleted),
        cmocka_unit_test(operators_act_on_jobs_and_administrators_on_nodes),
        cmocka_unit_test(listings_are_in_the_order_of_the_tree_and_private_if_so_configured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
