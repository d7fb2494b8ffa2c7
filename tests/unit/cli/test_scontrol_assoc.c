/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/scontrol_assoc.h"

#include <string.h>

#include "assoc/assoc.h"
#include "base/alloc.h"
#include "unit.h"

#define T(text) ((char *) (uintptr_t) (text))

struct sample {
    struct acct_user users[2];
    struct assoc assocs[4];
    struct qos qos[1];
    struct share shares[1];
    struct limit_count counts[3];
    struct assoc_list book;
    struct share_list share_list;
    struct limit_counts count_list;
    struct assoc_state state;
};

static uint32_t uid_of(const char *name) {
    return name[0] == 'a' ? 7 : 8;
}

/* ann and bob in physics, which may have 5 jobs; ann has one that runs and one that waits. */
static void sample_make(struct sample *s) {
    static const char *names[] = {"ann", "bob"};
    memset(s, 0, sizeof(*s));
    for (size_t i = 0; i < 4; i++) {
        record_init(&record_assoc, &s->assocs[i]);
        s->assocs[i].id = (uint32_t) i + 1;
        s->assocs[i].account = T(i == 0 ? "root" : "physics");
        s->assocs[i].user = i > 1 ? T(names[i - 2]) : NULL;
    }
    s->assocs[1].parent = T("root");
    s->assocs[1].max_jobs = 5;
    s->assocs[1].max_tres = T("cpu=8,node=2");
    s->assocs[2].max_submit_jobs = 7;
    s->assocs[2].grp_tres = T("cpu=4,license/foo=2");
    s->assocs[2].grp_wall = 500;
    for (size_t i = 0; i < 2; i++)
        s->users[i] = (struct acct_user) {.name = T(names[i]), .default_account = T("physics")};
    s->users[1].admin_level = ADMIN_OPERATOR;
    record_init(&record_qos, &s->qos[0]);
    s->qos[0].name = T("own");
    s->qos[0].id = 2;
    s->qos[0].grp_jobs = 3;
    s->qos[0].max_tres_pu = T("cpu=4");
    s->shares[0] = (struct share) {.assoc_id = 3, .norm_shares = 0.5, .factor = 0.25, .usage = 12};
    s->counts[0] = (struct limit_count) {.kind = ASSOC_ASSOC, .id = 3, .jobs = 1, .submitted = 2};
    s->counts[0].tres = T("cpu=2,mem=200");
    s->counts[0].wall_used = 90;
    s->counts[1] = (struct limit_count) {.kind = ASSOC_QOS, .id = 2, .jobs = 1, .submitted = 2};
    s->counts[2] = (struct limit_count) {.kind = ASSOC_QOS, .id = 2, .jobs = 1, .submitted = 2};
    s->counts[2].user = T("ann");
    s->counts[2].uid = 7;
    s->counts[2].tres = T("cpu=2,mem=200");
    s->book = (struct assoc_list) {
        .cluster = T("tux"), .users = {s->users, 2}, .assocs = {s->assocs, 4}, .qos = {s->qos, 1}};
    s->share_list.items.items = s->shares;
    s->share_list.items.n = 1;
    s->count_list.items.items = s->counts;
    s->count_list.items.n = 3;
    s->state = (struct assoc_state) {&s->book, &s->share_list, &s->count_list, uid_of};
}

static void shows(const char *words, bool oneline, const char *expected) {
    struct sample sample;
    struct str out cleanup_str = STR_INIT;
    struct assoc_filter filter = ASSOC_FILTER_INIT;
    struct error err = ERROR_INIT;
    sample_make(&sample);
    words_each (words, " ", word)
        assert_int_equal(assoc_filter_add(&filter, word, &err), 0);
    assoc_state_print(&sample.state, &filter, oneline, &out);
    assert_string_equal(out.data, expected);
    assoc_filter_done(&filter);
}

#define HEAD "Current Association Manager state\n"

TEST(limits_stand_with_what_is_used_of_them_and_those_of_the_account_hold_its_users) {
    shows("users=ann accounts=physics flags=assoc", false,
          HEAD "\nAssociation Records\n\n"
               "ClusterName=tux Account=physics UserName= Partition= Priority=0 ID=2\n"
               "    SharesRaw/Norm/Level/Factor=1/0.00/1/0.00\n"
               "    UsageRaw/Norm/Efctv=0.00/0.00/0.00\n"
               "    ParentAccount=root(1) Lft=2 DefAssoc=No\n"
               "    GrpJobs=N(0) GrpJobsAccrue=N(0)\n"
               "    GrpSubmitJobs=N(0) GrpWall=N(0.00)\n"
               "    GrpTRES=\n    GrpTRESMins=\n    GrpTRESRunMins=\n"
               "    MaxJobs=5(0) MaxJobsAccrue= MaxSubmitJobs= MaxWallPJ=\n"
               "    MaxTRESPJ=cpu=8,node=2\n    MaxTRESPN=\n    MaxTRESMinsPJ=\n"
               "    MinPrioThresh=\n"
               "ClusterName=tux Account=physics UserName=ann(7) Partition= Priority=0 ID=3\n"
               "    SharesRaw/Norm/Level/Factor=1/0.50/2/0.25\n"
               "    UsageRaw/Norm/Efctv=12.00/0.00/0.00\n"
               "    ParentAccount= Lft=3 DefAssoc=Yes\n"
               "    GrpJobs=N(1) GrpJobsAccrue=N(0)\n"
               "    GrpSubmitJobs=N(2) GrpWall=500(1.50)\n"
               "    GrpTRES=cpu=4(2),mem=N(200),license/foo=2\n"
               "    GrpTRESMins=\n    GrpTRESRunMins=\n"
               "    MaxJobs=5(1) MaxJobsAccrue= MaxSubmitJobs=7(2) MaxWallPJ=\n"
               "    MaxTRESPJ=cpu=8,node=2\n    MaxTRESPN=\n    MaxTRESMinsPJ=\n"
               "    MinPrioThresh=\n");
}

TEST(a_qos_tells_what_each_user_has_of_it_in_one_line_too) {
    shows("qos=own flags=qos", true,
          HEAD "QOS Records\n"
               "QOS=own(2) UsageRaw=0.000000 GrpJobs=3(1) GrpJobsAccrue=N(0) GrpSubmitJobs=N(2) "
               "GrpWall=N(0.00) GrpTRES= GrpTRESMins= GrpTRESRunMins= MaxWallPJ= MaxTRESPJ= "
               "MaxTRESPN= MaxTRESMinsPJ= MinPrioThresh=  MinTRESPJ= PreemptMode=OFF Priority=0 "
               "Account Limits= No Accounts User Limits= 7={MaxJobsPU=N(1) MaxJobsAccruePU=N(0) "
               "MaxSubmitJobsPU=N(2) MaxTRESPU=cpu=4(2),mem=N(200)}\n");
}

TEST(users_are_told_with_their_level_and_nobody_is_told_as_such) {
    shows("users=BOB,ann flags=users", false,
          HEAD "\nUser Records\n\n"
               "UserName=ann(7) DefAccount=physics DefWckey=(null) AdminLevel=Not Set\n"
               "UserName=bob(8) DefAccount=physics DefWckey=(null) AdminLevel=Operator\n");
    shows("users=eve qos=none accounts=none", false,
          HEAD "\nNo users currently cached in Slurm.\n\n"
               "\nNo associations currently cached in Slurm.\n\n"
               "\nNo QOS currently cached in Slurm.\n\n");
}

TEST(filters_and_flags_that_are_none_are_told_apart) {
    struct assoc_filter filter = ASSOC_FILTER_INIT;
    struct error err = ERROR_INIT;
    assert_int_equal(assoc_filter_add(&filter, "bar=foo", &err), -ERR_NOT_FOUND);
    assert_int_equal(assoc_filter_add(&filter, "users", &err), -ERR_NOT_FOUND);
    assert_int_equal(assoc_filter_add(&filter, "=users", &err), -ERR_NOT_FOUND);
    assert_int_equal(assoc_filter_add(&filter, "flags=users,foo", &err), -ERR_INVALID);
    assert_string_equal(err.text,
                        "invalid flag 'foo', valid options are 'Assoc, QOS, and/or Users'");
    assert_int_equal(assoc_filter_add(&filter, "Flags=Assoc,QOS", &err), 0);
    assert_int_equal(filter.sections,
                     ASSOC_SECTION_USERS | ASSOC_SECTION_ASSOCS | ASSOC_SECTION_QOS);
    assoc_filter_done(&filter);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            limits_stand_with_what_is_used_of_them_and_those_of_the_account_hold_its_users),
        cmocka_unit_test(a_qos_tells_what_each_user_has_of_it_in_one_line_too),
        cmocka_unit_test(users_are_told_with_their_level_and_nobody_is_told_as_such),
        cmocka_unit_test(filters_and_flags_that_are_none_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
