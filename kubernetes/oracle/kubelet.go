// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	_ "unsafe" // for go:linkname

	cadvisorapi "github.com/google/cadvisor/info/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cm/containermap"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	cpustate "k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/state"
	cputopology "k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/topology"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/utils/cpuset"
)

// newDeviceManager is the constructor that takes the socket's path: the exported one writes to
// /var/lib/kubelet, where a running kubelet keeps its own state.
//
//go:linkname newDeviceManager k8s.io/kubernetes/pkg/kubelet/cm/devicemanager.newManagerImpl
func newDeviceManager(socket string, topology []cadvisorapi.Node, store topologymanager.Store) (*devicemanager.ManagerImpl, error)

// kubelet holds the managers of one kubelet, in a state directory of its own.
type kubelet struct {
	directory string
	active    []*v1.Pod
	topology  topologymanager.Manager
	cpus      *cpuProvider
	memory    memorymanager.Manager
	devices   *devicemanager.ManagerImpl
}

// ready reports that all sources of pods have been read, so that managers drop pods that ended.
type ready struct{}

func (ready) AddSource(string) {}
func (ready) AllReady() bool   { return true }

// newKubelet starts the managers in the kubelet's order. The second result is why it does not start.
func newKubelet(asked *Case) (*kubelet, error, error) {
	directory, err := os.MkdirTemp("/dev/shm", "wirespeed-kubelet-")
	if err != nil {
		return nil, nil, err
	}
	made := &kubelet{directory: directory}
	info := asked.machineInfo()
	settings := &asked.Settings
	made.topology, err = topologymanager.NewManager(info.Topology, settings.Topology, settings.Scope, settings.Options)
	if err != nil {
		return made, err, nil
	}
	if err := made.startDevices(asked, info); err != nil {
		made.close()
		return nil, nil, err
	}
	if err := made.startCpus(settings, info); err != nil {
		return made, err, nil
	}
	return made, made.startMemory(settings, info), nil
}

func (kubelet *kubelet) close() {
	if kubelet.devices != nil {
		_ = kubelet.devices.Stop()
	}
	_ = os.RemoveAll(kubelet.directory)
}

func (kubelet *kubelet) pods() []*v1.Pod { return kubelet.active }

func (kubelet *kubelet) startDevices(asked *Case, info *cadvisorapi.MachineInfo) error {
	if len(asked.Plugins) == 0 {
		return nil
	}
	manager, err := newDeviceManager(filepath.Join(kubelet.directory, "kubelet.sock"), info.Topology, kubelet.topology)
	if err != nil {
		return err
	}
	if err := manager.Start(kubelet.pods, ready{}, containermap.NewContainerMap(), sets.New[string]()); err != nil {
		return err
	}
	kubelet.devices = manager
	for resource, devices := range asked.Plugins {
		if err := manager.PluginConnected(resource, plugin{resource}); err != nil {
			return err
		}
		manager.PluginListAndWatchReceiver(resource, listed(devices))
	}
	kubelet.topology.AddHintProvider(manager)
	return nil
}

func (kubelet *kubelet) startCpus(settings *Settings, info *cadvisorapi.MachineInfo) error {
	reserved := cpuset.New(settings.ReservedCpus...)
	// The manager judges the settings; its policy is then used without the loop that writes cgroups.
	if _, err := cpumanager.NewManager(settings.CpuPolicy, settings.CpuOptions, 0, info, reserved, settings.reservation(), kubelet.directory, kubelet.topology); err != nil {
		return err
	}
	if settings.CpuPolicy != string(cpumanager.PolicyStatic) {
		return nil
	}
	topology, err := cputopology.Discover(info)
	if err != nil {
		return err
	}
	policy, err := cpumanager.NewStaticPolicy(topology, reserved.Size(), reserved, kubelet.topology, settings.CpuOptions)
	if err != nil {
		return err
	}
	kubelet.cpus = &cpuProvider{policy, cpustate.NewMemoryState()}
	if err := policy.Start(kubelet.cpus.state); err != nil {
		return err
	}
	kubelet.topology.AddHintProvider(kubelet.cpus)
	return nil
}

func (kubelet *kubelet) startMemory(settings *Settings, info *cadvisorapi.MachineInfo) error {
	if settings.MemoryPolicy != string(memorymanager.PolicyTypeStatic) {
		return nil
	}
	ctx := context.Background()
	manager, err := memorymanager.NewManager(ctx, settings.MemoryPolicy, info, settings.reservation(), settings.reservedMemory(), kubelet.directory, kubelet.topology)
	if err != nil {
		return err
	}
	if err := manager.Start(ctx, kubelet.pods, ready{}, nil, nil, containermap.NewContainerMap()); err != nil {
		return err
	}
	kubelet.memory = manager
	kubelet.topology.AddHintProvider(manager)
	return nil
}

// reservation returns what Node Allocatable keeps for the system.
func (settings *Settings) reservation() v1.ResourceList {
	list := v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(int64(len(settings.ReservedCpus)), resource.DecimalSI)}
	for _, reserved := range settings.ReservedMemory {
		total := list[reserved.name()]
		total.Add(*resource.NewQuantity(reserved.Bytes, resource.BinarySI))
		list[reserved.name()] = total
	}
	return list
}

func (settings *Settings) reservedMemory() []kubeletconfig.MemoryReservation {
	var found []kubeletconfig.MemoryReservation
	for _, reserved := range settings.ReservedMemory {
		found = append(found, kubeletconfig.MemoryReservation{
			NumaNode: reserved.Node,
			Limits:   v1.ResourceList{reserved.name(): *resource.NewQuantity(reserved.Bytes, resource.BinarySI)},
		})
	}
	return found
}

func (reserved *Reserved) name() v1.ResourceName {
	if reserved.PageKib == 0 {
		return v1.ResourceMemory
	}
	return hugePages(reserved.PageKib)
}
