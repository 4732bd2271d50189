/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "content.h"
#include "core/config.h"

#define CONTENTS_MAX 16

static const struct content_ops *contents[CONTENTS_MAX];
static unsigned int nb_contents;

void
content_register(const struct content_ops *content)
{
	/* Runs before main: one too many is a programming fault. */
	if (nb_contents == CONTENTS_MAX) {
		fprintf(stderr, "wsdp: content %s cannot be registered\n", content->name);
		abort();
	}
	contents[nb_contents++] = content;
}

const struct content_ops *
content_of(const struct config_section *section)
{
	const struct content_ops *found = NULL;

	for (unsigned int i = 0; i < nb_contents; i++) {
		if (!config_has(section, contents[i]->name))
			continue;
		if (found != NULL)
			config_fault(section, contents[i]->name,
				     "does not go with %s: frames have one content", found->name);
		else
			found = contents[i];
	}
	return found;
}
