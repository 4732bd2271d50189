#!/bin/bash
# Host compute-1: set the kernel command line in /etc/default/grub (SLES, openSUSE), then reboot.
# It changes one line. Running it again changes nothing.
#   default_hugepagesz=1G: what mounts and DPDK take (S3)
#   hugepagesz=1G: the size of the next count
#   hugepages=12: whole number (S3 wrote 164.0); node 0: 6, node 1: 6
#   hugepagesz=2M: the size of the next count
#   hugepages=4096: whole number (S3 wrote 164.0); node 0: 2048, node 1: 2048
#   intel_iommu=on: passthrough and vfio need the IOMMU (S1)
#   iommu=pt: no translation for the host's own devices (S3)
#   isolcpus=2-3,6-35,38-39,42-71: no other task on the CPUs of PMDs and guests (S0, S3)
#   nohz=on: lets nohz_full stop the tick (S3)
#   nohz_full=2-3,6-35,38-39,42-71: no timer tick on them; equal to isolcpus (S3)
#   rcu_nocbs=2-3,6-35,38-39,42-71: no RCU callbacks on them; equal to isolcpus (S3)
#   skew_tick=1: ticks of the other CPUs do not contend (S3)
#   intel_pstate=disable: no frequency changes by the driver (S3)
#   nosoftlockup: a polling CPU is not a locked one (S3)
set -euo pipefail
set -f
file=/etc/default/grub
planned='default_hugepagesz=1G hugepagesz=1G hugepages=12 hugepagesz=2M hugepages=4096 intel_iommu=on iommu=pt isolcpus=2-3,6-35,38-39,42-71 nohz=on nohz_full=2-3,6-35,38-39,42-71 rcu_nocbs=2-3,6-35,38-39,42-71 skew_tick=1 intel_pstate=disable nosoftlockup'

# Words of a variable. The line must be plain, since GRUB reads the file as a shell script.
words_of() {
	if [ "$(grep -cE "^[^#]*\\b$1\\+?=" "$file")" != 1 ] ||
		! grep -qE "^$1=\"[^\"\$\`\\\\&|]*\"[[:space:]]*(#.*)?\$" "$file"; then
		echo "$file: needs one line $1=\"...\" of plain words; correct it, then run this again" >&2
		return 1
	fi
	sed -n "s/^$1=\"\\([^\"]*\\)\".*/\\1/p" "$file"
}

is_planned() {
	case $1 in
	default_hugepagesz | default_hugepagesz=* | hugepagesz | hugepagesz=* | hugepages | hugepages=* | intel_iommu | intel_iommu=* | iommu | iommu=* | isolcpus | isolcpus=* | nohz | nohz=* | nohz_full | nohz_full=* | rcu_nocbs | rcu_nocbs=* | skew_tick | skew_tick=* | intel_pstate | intel_pstate=* | nosoftlockup | nosoftlockup=*) return 0 ;;
	*) return 1 ;;
	esac
}

every=$(words_of GRUB_CMDLINE_LINUX)
for word in $every; do
	if is_planned "$word"; then
		echo "$file: GRUB_CMDLINE_LINUX has $word, which is planned, too; take it out, then run this again" >&2
		exit 1
	fi
done
old=$(words_of GRUB_CMDLINE_LINUX_DEFAULT)
new=""
for word in $old; do
	is_planned "$word" || new="$new$word "
done
new=$new$planned
if [ "$new" != "$old" ]; then
	sed -i "s|^\\(GRUB_CMDLINE_LINUX_DEFAULT=\"\\)[^\"]*|\\1$new|" "$file"
	echo Reboot compute-1 for the new kernel command line.
fi
grub2-mkconfig -o /boot/grub2/grub.cfg
