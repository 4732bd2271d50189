/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>

#include "cpu_thread.h"

int
cpu_thread_start(pthread_t *thread, uint32_t cpu, int fifo_priority, void *(*run)(void *),
		 void *arg)
{
	struct sched_param priority = {.sched_priority = fifo_priority};
	pthread_attr_t attributes;
	cpu_set_t cpus;
	int ret;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(cpus), &cpus);
	if (fifo_priority != CPU_THREAD_INHERIT) {
		pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
		pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
		pthread_attr_setschedparam(&attributes, &priority);
	}
	ret = pthread_create(thread, &attributes, run, arg);
	pthread_attr_destroy(&attributes);
	return -ret;
}
