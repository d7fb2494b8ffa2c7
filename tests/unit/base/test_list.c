/* SPDX-License-Identifier: Apache-2.0 */
/* Intrusive lists. */
#include "base/list.h"

#include "unit.h"

struct item {
    int value;
    struct list link;
};

static int sum_in_order(struct list *head) {
    int sum = 0;
    list_each (head, node) {
        sum = sum * 10 + list_entry(node, struct item, link)->value;
    }
    return sum;
}

TEST(append_and_prepend_keep_order) {
    struct list head;
    struct item items[] = {{.value = 1}, {.value = 2}, {.value = 3}};
    list_init(&head);
    assert_true(list_is_empty(&head));
    list_append(&head, &items[1].link);
    list_append(&head, &items[2].link);
    list_prepend(&head, &items[0].link);
    assert_int_equal(sum_in_order(&head), 123);
}

TEST(the_current_entry_may_be_removed_while_iterating) {
    struct list head;
    struct item items[] = {{.value = 1}, {.value = 2}, {.value = 3}};
    list_init(&head);
    for (size_t i = 0; i < countof(items); i++)
        list_append(&head, &items[i].link);
    list_each (&head, node) {
        if (list_entry(node, struct item, link)->value == 2)
            list_remove(node);
    }
    assert_int_equal(sum_in_order(&head), 13);
    assert_true(list_is_empty(&items[1].link)); /* unlinked: points to itself */
    list_remove(&items[1].link);
    assert_int_equal(sum_in_order(&head), 13);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(append_and_prepend_keep_order),
        cmocka_unit_test(the_current_entry_may_be_removed_while_iterating),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
