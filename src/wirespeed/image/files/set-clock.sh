#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Set the clock by the emulated RTC, which has the time of the machine that emulates this one: the
# moment at which the RTC's second changes is known, what it reads in between is not.
rtc=/sys/class/rtc/rtc0/since_epoch
read -r before <"$rtc"
now=$before
while [ "$now" = "$before" ]; do
	sleep 0.05
	read -r now <"$rtc"
done
date -s "@$now" >/dev/null
