/* SPDX-License-Identifier: Apache-2.0 */
/* The key that a job counts for, and who may name which. */
#include "base/alloc.h"
#include "core/state.h"
#include "unit.h"
#include "world.h"

#define CLUSTER                                                                                    \
    "ClusterName=tux\nSlurmctldHost=localhost\nNodeName=n1 CPUs=4 RealMemory=4000\n"               \
    "PartitionName=main Nodes=ALL Default=YES DefMemPerCPU=100\n"

static void begin(struct world *world, const char *more) {
    cleanup_free char *conf = xasprintf("%s%s", CLUSTER, more);
    world_start(world, conf);
    world_all_connect(world);
    world->uid = 7;
    world_book(world, "add account physics");
    world_book(world, "add user user7 account=physics wckeys=red,blue");
    world_book(world, "add user user8 account=physics");
    world_book(world, "add user user9 account=physics wckeys=red");
    world_book(world, "modify user user9 set defaultwckey=-1");
}

/* Asks of a user for a key (NULL: none); what the job has, or "code". */
static const char *ask(struct world *world, uint32_t uid, const char *key, struct job *job) {
    struct job_request request;
    int code = 0;
    world_request(&request);
    request.wckey = (char *) (uintptr_t) key;
    world->uid = uid;
    uint32_t id = world_submit(world, &request, &code);
    if (id == 0)
        return code == ERR_INVALID_WCKEY ? "refused" : "refused for another reason";
    assert_true(world_look(world, id, job));
    return job->wckey;
}

TEST(a_job_has_the_key_that_it_names_or_the_default_of_its_user) {
    static const struct {
        uint32_t uid;
        const char *named, *kept, *tracked, *enforced;
    } rows[] = {
        {7, NULL, NULL, "*red", "*red"},        {7, "blue", "blue", "blue", "blue"},
        {7, "BLUE", "BLUE", "blue", "blue"},    {7, "*red", "*red", "*red", "*red"},
        {7, "nope", "nope", "nope", "refused"}, {7, "*blue", "*blue", "*blue", "refused"},
        {8, NULL, NULL, "*", "refused"},        {8, "red", "red", "red", "refused"},
        {9, NULL, NULL, "*", "refused"},        {9, "red", "red", "red", "red"},
    };
    static const char *const confs[] = {"", "TrackWCKey=yes\n",
                                        "AccountingStorageEnforce=wckeys\n"};
    for (size_t c = 0; c < countof(confs); c++) {
        struct world world;
        begin(&world, confs[c]);
        for (size_t i = 0; i < countof(rows); i++) {
            struct job job;
            const char *want = c == 0 ? rows[i].kept : c == 1 ? rows[i].tracked : rows[i].enforced;
            const char *got = ask(&world, rows[i].uid, rows[i].named, &job);
            if (!str_equal(got, want))
                fail_msg("%s, row %zu: %s", confs[c], i, got != NULL ? got : "none");
        }
        world_stop(&world);
    }
}

TEST(the_number_of_the_key_goes_with_the_job_and_survives_a_restart) {
    struct world world;
    struct job job;
    begin(&world, "TrackWCKey=yes\n");
    const struct acct_user *user = acct_user_find(&world.core->book, "user7");
    uint32_t red = user_wckey_find(user, "red")->id, blue = user_wckey_find(user, "blue")->id;
    (void) ask(&world, 7, "blue", &job);
    assert_int_equal(job.wckey_id, blue);
    (void) ask(&world, 7, "nope", &job);
    assert_int_equal(job.wckey_id, 0);
    (void) ask(&world, 7, NULL, &job);
    assert_int_equal(job.wckey_id, red);
    uint32_t id = job.job_id;
    world_restart(&world);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.wckey_id, red);
    assert_string_equal(job.wckey, "*red");
    user = acct_user_find(&world.core->book, "user7");
    assert_int_equal(user_wckey_find(user, "blue")->id, blue);
    world_stop(&world);
}

TEST(a_job_gets_another_key_by_an_update_that_is_checked_too) {
    struct world world;
    struct job job;
    begin(&world, "AccountingStorageEnforce=wckeys\n");
    (void) ask(&world, 7, NULL, &job);
    cleanup_free char *id = xasprintf("%u", job.job_id);
    assert_int_equal(world_update(&world, "job", id, "WCKey", "blue"), 0);
    assert_true(world_look(&world, job.job_id, &job));
    assert_string_equal(job.wckey, "blue");
    assert_int_equal(world_update(&world, "job", id, "WCKey", "nope"), ERR_INVALID_WCKEY);
    assert_true(world_look(&world, job.job_id, &job));
    assert_string_equal(job.wckey, "blue");
    assert_int_equal(world_update(&world, "job", id, "WCKey", ""), 0);
    assert_true(world_look(&world, job.job_id, &job));
    assert_string_equal(job.wckey, "*red");
    world_book(&world, "delete user user7 wckeys=red,blue");
    assert_int_equal(world_update(&world, "job", id, "Comment", "kept"), 0);
    assert_true(world_look(&world, job.job_id, &job));
    assert_string_equal(job.wckey, "*red");
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_has_the_key_that_it_names_or_the_default_of_its_user),
        cmocka_unit_test(the_number_of_the_key_goes_with_the_job_and_survives_a_restart),
        cmocka_unit_test(a_job_gets_another_key_by_an_update_that_is_checked_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
