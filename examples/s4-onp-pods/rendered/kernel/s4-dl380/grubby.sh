#!/bin/bash
# Host s4-dl380: set the kernel command line where grubby manages it (RHEL), then reboot.
set -euo pipefail
# hugepagesz= and hugepages= may repeat, so the old ones go first.
grubby --update-kernel=ALL --remove-args="hugepagesz hugepages default_hugepagesz"
grubby --update-kernel=ALL --args='default_hugepagesz=1G hugepagesz=1G hugepages=8 intel_iommu=on iommu=pt isolcpus=managed_irq,1-11,13-23,25-35,37-47 nohz=on nohz_full=1-11,13-23,25-35,37-47 rcu_nocbs=1-11,13-23,25-35,37-47 skew_tick=1 intel_pstate=disable nosoftlockup'
echo Reboot s4-dl380 for the new kernel command line.
