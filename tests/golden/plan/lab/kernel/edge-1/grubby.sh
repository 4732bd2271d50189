#!/bin/bash
# Host edge-1: set the kernel command line where grubby manages it (RHEL), then reboot.
set -euo pipefail
# hugepagesz= and hugepages= may repeat, so the old ones go first.
grubby --update-kernel=ALL --remove-args="hugepagesz hugepages default_hugepagesz"
grubby --update-kernel=ALL --args='default_hugepagesz=1G hugepagesz=1G hugepages=16 intel_iommu=on iommu=pt isolcpus=2-9,12-19,22-29,32-39 nohz=on nohz_full=2-9,12-19,22-29,32-39 rcu_nocbs=2-9,12-19,22-29,32-39 skew_tick=1 intel_pstate=disable nosoftlockup'
echo Reboot edge-1 for the new kernel command line.
