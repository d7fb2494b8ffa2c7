/* SPDX-License-Identifier: Apache-2.0 */
/* Books of several clusters: what is of all and what is of one. Covers: shared.c, clusters.c */
#include "assoc/shared.h"

#include "assoc/list.h"
#include "change_line.h"
#include "unit.h"

struct world {
    struct shared_books books;
    const char *user;
    struct str text;
    struct strs notes;
    unsigned n_of_all, n_of_one;
};

static void begin(struct world *world, const char *first, const char *second) {
    *world = (struct world) {.user = "root", .text = STR_INIT};
    shared_init(&world->books);
    if (first != NULL)
        (void) shared_add(&world->books, first);
    if (second != NULL)
        (void) shared_add(&world->books, second);
}

static void end(struct world *world) {
    shared_done(&world->books);
    str_done(&world->text);
    strs_done(&world->notes);
}

static void count(void *context, const char *cluster, uint32_t kind, const void *old,
                  const void *next) {
    struct world *world = context;
    assert_true((cluster == NULL) == (kind == ASSOC_QOS));
    world->n_of_all += cluster == NULL;
    world->n_of_one += cluster != NULL;
}

static void carry_out(struct world *world, struct shared_plan *plan) {
    str_reset(&world->text);
    str_append(&world->text, str_cstr(&plan->text));
    strs_done(&world->notes);
    world->notes = plan->notes;
    plan->notes = (struct strs) {NULL, 0};
    world->n_of_all = world->n_of_one = 0;
    shared_apply(&world->books, plan, count, world);
    shared_plan_done(plan);
}

/* 0, 1 where there is nothing to do, or an error. */
static int run(struct world *world, const char *line) {
    struct assoc_change change;
    struct shared_plan plan;
    struct error err = ERROR_INIT;
    struct arena arena;
    arena_init(&arena, 0);
    change_line_read(line, &arena, &change);
    int r = shared_plan_change(&world->books, world->user, str_equal(world->user, "root"), &change,
                               &plan, &err);
    bool empty = r == 0 && shared_plan_is_empty(&plan);
    if (r == 0) {
        carry_out(world, &plan);
    } else {
        str_reset(&world->text);
        str_append(&world->text, err.text);
    }
    arena_done(&arena);
    return r < 0 ? r : empty;
}

static void must(struct world *world, const char *line) {
    int r = run(world, line);
    if (r != 0)
        fail_msg("%s: %d: %s", line, r, str_cstr(&world->text));
}

static void refused(struct world *world, const char *line, const char *words) {
    assert_true(run(world, line) < 0);
    if (strstr(str_cstr(&world->text), words) == NULL)
        fail_msg("%s: %s", line, str_cstr(&world->text));
}

static const struct assoc_book *book(const struct world *world, const char *cluster) {
    return &shared_find(&world->books, cluster)->book;
}

TEST(a_change_that_names_no_cluster_is_made_in_all_and_told_once) {
    struct world world;
    begin(&world, "sun", "moon");
    must(&world, "add account physics description=optics");
    assert_string_equal(world.text.data, " Adding Account(s)\n  physics\n Settings\n"
                                         "  Description     = optics\n"
                                         "  Organization    = Parent/Account Name\n Associations\n"
                                         "  A = physics    C = moon      \n"
                                         "  A = physics    C = sun       \n");
    must(&world, "add user alice account=physics cluster=sun maxjobs=3");
    assert_non_null(assoc_find(book(&world, "sun"), "physics", "alice", NULL));
    assert_null(assoc_find(book(&world, "moon"), "physics", "alice", NULL));
    assert_null(acct_user_find(book(&world, "moon"), "alice"));
    refused(&world, "add user bob account=physics cluster=mars", "There is moon, sun");
    end(&world);
}

TEST(a_qos_is_of_all_clusters_and_of_those_that_come_later) {
    struct world world;
    begin(&world, NULL, NULL);
    refused(&world, "add account physics", "no cluster yet");
    must(&world, "add qos high priority=5");
    assert_int_equal(world.n_of_all, 1);
    (void) shared_add(&world.books, "sun");
    must(&world, "modify qos high set grpjobs=4");
    (void) shared_add(&world.books, "Moon");
    assert_int_equal(book_qos_find(book(&world, "moon"), "high")->grp_jobs, 4);
    assert_int_equal(book_qos_find(book(&world, "sun"), "high")->grp_jobs, 4);
    assert_int_equal(book_qos_find(book(&world, "moon"), "high")->id,
                     book_qos_find(book(&world, "sun"), "high")->id);
    must(&world, "modify cluster sun set defaultqos=high");
    must(&world, "delete qos high");
    assert_int_equal(world.n_of_all, 1);
    assert_null(book_qos_find(book(&world, "sun"), "high"));
    assert_null(assoc_find(book(&world, "sun"), "root", NULL, NULL)->default_qos);
    refused(&world, "add qos low cluster=sun", "of all clusters");
    end(&world);
}

TEST(administrators_coordinators_and_descriptions_are_the_same_everywhere) {
    struct world world;
    begin(&world, "moon", "sun");
    must(&world, "add account physics");
    must(&world, "add user alice account=physics cluster=sun");
    must(&world, "add user alice account=physics cluster=moon");
    must(&world, "modify user alice set adminlevel=administrator");
    world.user = "alice";
    must(&world, "modify account physics cluster=sun set description=light");
    assert_string_equal(account_find(book(&world, "moon"), "physics")->description, "light");
    must(&world, "add coordinator account=physics names=alice");
    must(&world, "add account optics cluster=sun parent=physics description=lenses");
    must(&world, "add account optics cluster=moon parent=physics description=other");
    assert_string_equal(account_find(book(&world, "moon"), "optics")->description, "lenses");
    must(&world, "add user bob account=optics cluster=sun adminlevel=operator");
    must(&world, "add user bob account=optics cluster=moon");
    assert_int_equal(acct_user_find(book(&world, "moon"), "bob")->admin_level, ADMIN_OPERATOR);
    /* an administrator of one cluster is one of those that do not know her */
    (void) shared_add(&world.books, "mars");
    must(&world, "add account rocks cluster=mars");
    world.user = "bob";
    must(&world, "add account more");
    refused(&world, "add qos more", "only administrators");
    end(&world);
}

TEST(a_change_of_all_that_a_cluster_cannot_take_is_made_in_the_others_and_says_so) {
    struct world world;
    begin(&world, "moon", "sun");
    must(&world, "add account physics cluster=sun");
    must(&world, "add user alice account=physics");
    assert_int_equal(world.notes.n, 1);
    assert_string_equal(world.notes.items[0],
                        "cluster moon is left out: This account 'physics' doesn't exist.");
    refused(&world, "add user alice account=physics cluster=moon", "doesn't exist");
    refused(&world, "modify user alice set maxjobs=many", "");
    assert_int_equal(run(&world, "modify user nobody set maxjobs=1"), 1);
    end(&world);
}

static void own_book(struct world *world, const char *cluster, struct arena *arena,
                     struct assoc_list *ret) {
    struct assoc_asker root = {"root", true};
    record_init(&record_assoc_list, ret);
    assoc_list_fill(&shared_find(&world->books, cluster)->book, &root, false, arena, ret);
}

TEST(a_controllers_own_book_is_taken_over_and_differences_are_told) {
    struct world world, own;
    struct assoc_list list;
    struct shared_plan plan;
    struct arena arena;
    arena_init(&arena, 0);
    begin(&own, "moon", NULL);
    must(&own, "add qos high priority=9");
    must(&own, "add qos night");
    must(&own, "add account physics description=theirs");
    must(&own, "add user eve account=physics adminlevel=administrator maxjobs=7 qos=high,night");
    own_book(&own, "moon", &arena, &list);
    begin(&world, "moon", NULL);
    assert_true(shared_is_untouched(&world.books, shared_find(&world.books, "moon")));
    shared_plan_take(&world.books, "moon", &list, &plan);
    carry_out(&world, &plan);
    assert_int_equal(world.notes.n, 0);
    assert_int_equal(assoc_find(book(&world, "moon"), "physics", "eve", NULL)->max_jobs, 7);
    assert_int_equal(acct_user_find(book(&world, "moon"), "eve")->admin_level, ADMIN_ADMINISTRATOR);
    assert_false(shared_is_untouched(&world.books, shared_find(&world.books, "moon")));
    end(&world);
    /* the same, where another cluster is there already */
    begin(&world, "moon", "sun");
    must(&world, "add qos low");
    must(&world, "add qos high priority=5");
    must(&world, "add account physics cluster=sun description=ours");
    shared_plan_take(&world.books, "moon", &list, &plan);
    carry_out(&world, &plan);
    assert_int_equal(world.notes.n, 3);
    assert_non_null(strstr(world.notes.items[0], "9 -> 5"));
    assert_non_null(strstr(world.notes.items[1], "theirs -> ours"));
    assert_non_null(strstr(world.notes.items[2], "adminlevel=Administrator"));
    assert_int_equal(acct_user_find(book(&world, "moon"), "eve")->admin_level, ADMIN_NONE);
    assert_int_equal(book_qos_find(book(&world, "moon"), "high")->priority, 5);
    assert_non_null(book_qos_find(book(&world, "sun"), "night"));
    assert_int_not_equal(book_qos_find(book(&world, "sun"), "night")->id,
                         book_qos_find(book(&world, "sun"), "high")->id);
    end(&world);
    end(&own);
    arena_done(&arena);
}

static int clusters(struct world *world, const char *line, struct shared_clusters *ret) {
    struct assoc_change change;
    struct error err = ERROR_INIT;
    struct arena arena;
    arena_init(&arena, 0);
    change_line_read(line, &arena, &change);
    int r = shared_plan_clusters(&world->books, world->user, str_equal(world->user, "root"),
                                 &change, ret, &err);
    str_reset(&world->text);
    str_append(&world->text, r < 0 ? err.text : str_cstr(&ret->text));
    arena_done(&arena);
    return r;
}

TEST(clusters_come_and_go_by_names_that_files_can_have) {
    struct world world;
    struct shared_clusters plan;
    begin(&world, "moon", NULL);
    assert_int_equal(clusters(&world, "add cluster Sun,moon maxjobs=4", &plan), 0);
    assert_int_equal(plan.names.n, 1);
    assert_string_equal(plan.names.items[0], "sun");
    assert_string_equal(world.text.data, " Adding Cluster(s)\n  Name           = sun\n Setting\n"
                                         "  Default Limits:\n  MaxJobs       = 4\n");
    assert_int_equal(plan.notes.n, 1);
    shared_clusters_done(&plan);
    assert_true(clusters(&world, "add cluster a/b", &plan) < 0);
    assert_true(clusters(&world, "add cluster ..", &plan) < 0);
    assert_true(clusters(&world, "add cluster sun maxjobs=-7", &plan) < 0);
    assert_true(clusters(&world, "delete cluster", &plan) < 0);
    assert_int_equal(clusters(&world, "delete cluster name=moon,mars", &plan), 0);
    assert_int_equal(plan.names.n, 1);
    shared_clusters_done(&plan);
    world.user = "eve";
    assert_true(clusters(&world, "delete cluster moon", &plan) < 0);
    end(&world);
}

TEST(a_file_is_for_one_cluster_and_its_qos_are_of_all) {
    struct world world;
    struct shared_plan plan;
    struct assoc_list added;
    struct error err = ERROR_INIT;
    struct assoc_load load = {.text = "QOS - 'fast':Priority=3\nCluster - 'sun'\nParent - 'root'\n"
                                      "Account - 'chem'\n"};
    begin(&world, "moon", "sun");
    record_init(&record_assoc_list, &added);
    assert_int_equal(shared_plan_load(&world.books, "root", true, &load, &plan, &added, &err), 0);
    carry_out(&world, &plan);
    assert_int_equal(world.n_of_all, 1);
    assert_int_equal(book_qos_find(book(&world, "moon"), "fast")->priority, 3);
    assert_null(account_find(book(&world, "moon"), "chem"));
    assert_non_null(account_find(book(&world, "sun"), "chem"));
    load.cluster = "mars";
    assert_int_equal(shared_plan_load(&world.books, "root", true, &load, &plan, &added, &err),
                     -ERR_NOT_FOUND);
    record_done(&record_assoc_list, &added);
    end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_that_names_no_cluster_is_made_in_all_and_told_once),
        cmocka_unit_test(a_qos_is_of_all_clusters_and_of_those_that_come_later),
        cmocka_unit_test(administrators_coordinators_and_descriptions_are_the_same_everywhere),
        cmocka_unit_test(
            a_change_of_all_that_a_cluster_cannot_take_is_made_in_the_others_and_says_so),
        cmocka_unit_test(a_controllers_own_book_is_taken_over_and_differences_are_told),
        cmocka_unit_test(clusters_come_and_go_by_names_that_files_can_have),
        cmocka_unit_test(a_file_is_for_one_cluster_and_its_qos_are_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
