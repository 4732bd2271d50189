/* SPDX-License-Identifier: Apache-2.0 */
/* Longest-prefix match against a search through all rules, while rules come and go. */
#include <stdbool.h>

#include "bng/lpm.h"
#include "../check.h"
#include "random.h"

#define RULES 400

struct model_rule {
	uint32_t prefix;
	uint8_t length;
	uint16_t hop;
	bool there;
};

static uint16_t
longest(const struct model_rule *rules, uint32_t address)
{
	int best = -1;
	uint16_t hop = 0;

	for (unsigned int i = 0; i < RULES; i++) {
		if (!rules[i].there || rules[i].length <= best ||
		    (address & bng_prefix_mask(rules[i].length)) != rules[i].prefix)
			continue;
		best = rules[i].length;
		hop = rules[i].hop;
	}
	return hop;
}

static bool
is_taken(const struct model_rule *rules, const struct model_rule *rule)
{
	for (unsigned int i = 0; i < RULES; i++)
		if (rules[i].there && rules[i].prefix == rule->prefix &&
		    rules[i].length == rule->length)
			return true;
	return false;
}

/* The first and last address of every rule and their neighbours, and random ones nearby. */
static void
compare(const struct bng_lpm *lpm, const struct model_rule *rules, uint64_t *state)
{
	for (unsigned int i = 0; i < RULES; i++) {
		uint32_t first = rules[i].prefix;
		uint32_t last = first | ~bng_prefix_mask(rules[i].length);
		uint32_t some[] = {first,
				   first - 1,
				   last,
				   last + 1,
				   first ^ (random_next(state) & 0x3fff),
				   random_next(state)};

		for (unsigned int j = 0; j < sizeof(some) / sizeof(some[0]); j++)
			CHECK_EQ(bng_lpm_get(lpm, some[j]), longest(rules, some[j]));
	}
}

/* All in 10.0.0.0/14, with every length from 1 on: they nest deeply. */
static void
test_random(void)
{
	static struct model_rule rules[RULES];
	uint64_t state = 11;
	struct bng_lpm lpm;

	CHECK_EQ(bng_lpm_init(&lpm, &bng_heap, RULES, RULES), 0);
	for (unsigned int step = 0; step < 6000; step++) {
		struct model_rule *rule = &rules[random_next(&state) % RULES];

		if (rule->there) {
			CHECK_EQ(bng_lpm_remove(&lpm, rule->prefix, rule->length), BNG_LPM_OK);
			rule->there = false;
		} else {
			/* The short ones touch millions of entries: seldom. */
			rule->length = (uint8_t)(step % 500 == 0 ? 1 + random_next(&state) % 8
								 : 12 + random_next(&state) % 21);
			rule->prefix = (0x0a000000 | (random_next(&state) & 0x3ffff)) &
				       bng_prefix_mask(rule->length);
			rule->hop = (uint16_t)(1 + random_next(&state) % BNG_LPM_HOP_MASK);
			bool taken = is_taken(rules, rule);

			CHECK_EQ(bng_lpm_add(&lpm, rule->prefix, rule->length, rule->hop),
				 taken ? BNG_LPM_EXISTS : BNG_LPM_OK);
			rule->there = !taken;
		}
		if (step % 200 == 0)
			compare(&lpm, rules, &state);
	}
	for (unsigned int i = 0; i < RULES; i++)
		if (rules[i].there)
			CHECK_EQ(bng_lpm_remove(&lpm, rules[i].prefix, rules[i].length),
				 BNG_LPM_OK);
	for (uint32_t i = 0; i < BNG_LPM_TOP; i++)
		CHECK_EQ(lpm.top[i], 0);
	CHECK_EQ(lpm.nb_free_subs, RULES);
	bng_lpm_free(&lpm);
}

static void
test_limits(void)
{
	struct bng_lpm lpm;

	CHECK_EQ(bng_lpm_init(&lpm, &bng_heap, 3, 1), 0);
	CHECK_EQ(bng_lpm_add(&lpm, 0x0a000001, 32, 1), BNG_LPM_OK);
	CHECK_EQ(bng_lpm_add(&lpm, 0x0a000101, 32, 2), BNG_LPM_FULL); /* another /24 */
	CHECK_EQ(bng_lpm_add(&lpm, 0x0a000002, 32, 2), BNG_LPM_OK);
	CHECK_EQ(bng_lpm_add(&lpm, 0x0a000000, 8, 3), BNG_LPM_OK);
	CHECK_EQ(bng_lpm_add(&lpm, 0x0b000000, 8, 3), BNG_LPM_FULL);
	CHECK_EQ(bng_lpm_remove(&lpm, 0x0a000003, 32), BNG_LPM_MISSING);
	CHECK_EQ(bng_lpm_get(&lpm, 0x0a000002), 2);
	CHECK_EQ(bng_lpm_get(&lpm, 0x0a000003), 3);
	bng_lpm_free(&lpm);
}

int
main(void)
{
	test_random();
	test_limits();
	return 0;
}
