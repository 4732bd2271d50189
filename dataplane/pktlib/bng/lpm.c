/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "lpm.h"

/* An entry that is no reference to a sub-array: length << 9 | hop. */
static uint16_t
leaf(uint8_t length, uint16_t hop)
{
	return (uint16_t)(length << BNG_LPM_HOP_BITS | hop);
}

static uint8_t
length_of(uint16_t entry)
{
	return (uint8_t)(entry >> BNG_LPM_HOP_BITS);
}

int
bng_lpm_init(struct bng_lpm *lpm, const struct bng_memory *memory, uint32_t max_rules,
	     uint32_t max_subs)
{
	if (max_subs > BNG_LPM_SUBS_MAX)
		max_subs = BNG_LPM_SUBS_MAX;
	*lpm = (struct bng_lpm){.max_rules = max_rules, .memory = memory, .nb_subs = max_subs};
	lpm->top = memory->take(memory, BNG_LPM_TOP * sizeof(*lpm->top));
	lpm->subs = memory->take(memory, (max_subs + UINT64_C(1)) * sizeof(*lpm->subs));
	lpm->free_subs = memory->take(memory, (max_subs + UINT64_C(1)) * sizeof(*lpm->free_subs));
	lpm->rules = memory->take(memory, (max_rules + UINT64_C(1)) * sizeof(*lpm->rules));
	if (lpm->top == NULL || lpm->subs == NULL || lpm->free_subs == NULL || lpm->rules == NULL) {
		bng_lpm_free(lpm);
		return -1;
	}
	for (uint32_t i = 0; i < max_subs; i++)
		lpm->free_subs[lpm->nb_free_subs++] = (uint16_t)(max_subs - 1 - i);
	return 0;
}

void
bng_lpm_free(struct bng_lpm *lpm)
{
	if (lpm->memory == NULL)
		return;
	lpm->memory->give(lpm->memory, lpm->top);
	lpm->memory->give(lpm->memory, lpm->subs);
	lpm->memory->give(lpm->memory, lpm->free_subs);
	lpm->memory->give(lpm->memory, lpm->rules);
	*lpm = (struct bng_lpm){0};
}

uint64_t
bng_lpm_octets(const struct bng_lpm *lpm)
{
	return BNG_LPM_TOP * sizeof(*lpm->top) + lpm->nb_subs * sizeof(*lpm->subs) +
	       lpm->max_rules * sizeof(*lpm->rules);
}

/* The position of a rule, or where it belongs; *found says which. */
static uint32_t
find_rule(const struct bng_lpm *lpm, uint32_t prefix, uint8_t length, bool *found)
{
	uint32_t low = 0, high = lpm->nb_rules;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct bng_rule *rule = &lpm->rules[middle];

		if (rule->prefix < prefix || (rule->prefix == prefix && rule->length < length))
			low = middle + 1;
		else
			high = middle;
	}
	*found = low < lpm->nb_rules && lpm->rules[low].prefix == prefix &&
		 lpm->rules[low].length == length;
	return low;
}

/* Return the hop that replaces this rule's: that of the next shorter prefix around it. */
static uint16_t
covering(const struct bng_lpm *lpm, uint32_t prefix, uint8_t length)
{
	while (--length > 0) {
		bool found;
		uint32_t at = find_rule(lpm, prefix & bng_prefix_mask(length), length, &found);

		if (found)
			return leaf(length, lpm->rules[at].hop);
	}
	return 0;
}

/* Make `to` of the entries that a change of a prefix of this length concerns: when it is added,
 * those of shorter ones; when it goes, its own. */
static void
repaint(uint16_t *entries, uint32_t count, uint8_t length, uint16_t to, bool adding)
{
	for (uint32_t i = 0; i < count; i++)
		if (adding ? length_of(entries[i]) < length : length_of(entries[i]) == length)
			entries[i] = to;
}

/* The sub-array of a /24, made if there is none. NULL: there is no room for one. */
static uint16_t *
sub_of(struct bng_lpm *lpm, uint32_t prefix)
{
	uint16_t *entry = &lpm->top[prefix >> 8], *sub;
	uint16_t index;

	if (*entry & BNG_LPM_IS_SUB)
		return lpm->subs[*entry & ~BNG_LPM_IS_SUB];
	if (lpm->nb_free_subs == 0)
		return NULL;
	index = lpm->free_subs[--lpm->nb_free_subs];
	sub = lpm->subs[index];
	for (uint32_t i = 0; i < BNG_LPM_SUB; i++)
		sub[i] = *entry;
	*entry = (uint16_t)(BNG_LPM_IS_SUB | index);
	return sub;
}

/* Give a sub-array back when no prefix longer than /24 is left in it. */
static void
fold_sub(struct bng_lpm *lpm, uint32_t prefix)
{
	uint16_t *entry = &lpm->top[prefix >> 8];
	uint16_t index = *entry & (uint16_t)~BNG_LPM_IS_SUB;
	const uint16_t *sub = lpm->subs[index];

	for (uint32_t i = 0; i < BNG_LPM_SUB; i++)
		if (length_of(sub[i]) > 24)
			return;
	*entry = sub[0];
	lpm->free_subs[lpm->nb_free_subs++] = index;
}

static void
repaint_top(struct bng_lpm *lpm, uint32_t prefix, uint8_t length, uint16_t to, bool adding)
{
	uint32_t first = prefix >> 8, count = 1u << (24 - length);

	for (uint32_t i = first; i < first + count; i++) {
		uint16_t *entry = &lpm->top[i];

		if (*entry & BNG_LPM_IS_SUB)
			repaint(lpm->subs[*entry & ~BNG_LPM_IS_SUB], BNG_LPM_SUB, length, to,
				adding);
		else
			repaint(entry, 1, length, to, adding);
	}
}

enum bng_lpm_result
bng_lpm_add(struct bng_lpm *lpm, uint32_t prefix, uint8_t length, uint16_t hop)
{
	bool found;
	uint32_t at = find_rule(lpm, prefix, length, &found);
	uint16_t *sub = NULL;

	if (found)
		return BNG_LPM_EXISTS;
	if (lpm->nb_rules == lpm->max_rules)
		return BNG_LPM_FULL;
	if (length > 24) {
		sub = sub_of(lpm, prefix);
		if (sub == NULL)
			return BNG_LPM_FULL;
	}
	memmove(&lpm->rules[at + 1], &lpm->rules[at], (lpm->nb_rules - at) * sizeof(*lpm->rules));
	lpm->rules[at] = (struct bng_rule){prefix, length, hop};
	lpm->nb_rules++;
	if (sub != NULL)
		repaint(sub + (prefix & (BNG_LPM_SUB - 1)), 1u << (32 - length), length,
			leaf(length, hop), true);
	else
		repaint_top(lpm, prefix, length, leaf(length, hop), true);
	return BNG_LPM_OK;
}

enum bng_lpm_result
bng_lpm_remove(struct bng_lpm *lpm, uint32_t prefix, uint8_t length)
{
	bool found;
	uint32_t at = find_rule(lpm, prefix, length, &found);
	uint16_t to;

	if (!found)
		return BNG_LPM_MISSING;
	to = covering(lpm, prefix, length);
	lpm->nb_rules--;
	memmove(&lpm->rules[at], &lpm->rules[at + 1], (lpm->nb_rules - at) * sizeof(*lpm->rules));
	if (length > 24) {
		repaint(sub_of(lpm, prefix) + (prefix & (BNG_LPM_SUB - 1)), 1u << (32 - length),
			length, to, false);
		fold_sub(lpm, prefix);
	} else {
		repaint_top(lpm, prefix, length, to, false);
	}
	return BNG_LPM_OK;
}
