// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	cadvisorapi "github.com/google/cadvisor/info/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Case is one machine with its settings, and pods in the order of their admission.
type Case struct {
	// Cpus lists number, core (its lowest CPU), node, socket and last-level cache of each CPU.
	Cpus  [][5]int `json:"cpus"`
	Nodes []Node   `json:"nodes"`
	// Settings of the kubelet.
	Settings Settings `json:"settings"`
	// Plugins lists the devices of each resource.
	Plugins map[string][]Device `json:"plugins"`
	Pods    []Pod               `json:"pods"`
}

// Node is one NUMA node.
type Node struct {
	ID     int    `json:"id"`
	Memory uint64 `json:"memory"`
	// HugePages lists page size in KiB and number.
	HugePages [][2]uint64 `json:"huge_pages"`
	Distances []uint64    `json:"distances"`
}

// Settings are those of KubeletConfiguration that decide.
type Settings struct {
	ReservedCpus   []int             `json:"reserved_cpus"`
	CpuPolicy      string            `json:"cpu_policy"`
	CpuOptions     map[string]string `json:"cpu_options"`
	MemoryPolicy   string            `json:"memory_policy"`
	ReservedMemory []Reserved        `json:"reserved_memory"`
	Topology       string            `json:"topology"`
	Scope          string            `json:"scope"`
	Options        map[string]string `json:"topology_options"`
}

// Reserved is memory of one type on one node; PageKib is 0 for ordinary memory.
type Reserved struct {
	Node    int32 `json:"node"`
	PageKib int64 `json:"page_kib"`
	Bytes   int64 `json:"bytes"`
}

// Device is a device of a plugin; Node is nil without topology.
type Device struct {
	ID   string `json:"id"`
	Node *int64 `json:"node"`
}

// Pod is a pod; Containers are in the order of the manifest.
type Pod struct {
	Name       string      `json:"name"`
	Containers []Container `json:"containers"`
}

// Container names requests and limits; nil is absent.
type Container struct {
	Name        string           `json:"name"`
	Role        string           `json:"role"`
	CpuM        *int64           `json:"cpu_m"`
	CpuLimitM   *int64           `json:"cpu_limit_m"`
	Memory      *int64           `json:"memory"`
	MemoryLimit *int64           `json:"memory_limit"`
	HugePages   [][2]int64       `json:"huge_pages"`
	Devices     map[string]int64 `json:"devices"`
}

// machineInfo returns the machine as cAdvisor describes it.
func (asked *Case) machineInfo() *cadvisorapi.MachineInfo {
	info := &cadvisorapi.MachineInfo{NumCores: len(asked.Cpus)}
	cores := map[int]map[int]*cadvisorapi.Core{}
	sockets := map[int]bool{}
	for _, cpu := range asked.Cpus {
		number, coreID, node, socket, cache := cpu[0], cpu[1], cpu[2], cpu[3], cpu[4]
		sockets[socket] = true
		if cores[node] == nil {
			cores[node] = map[int]*cadvisorapi.Core{}
		}
		core := cores[node][coreID]
		if core == nil {
			core = &cadvisorapi.Core{Id: coreID, SocketID: socket}
			core.UncoreCaches = []cadvisorapi.Cache{{Id: cache, Level: 3}}
			cores[node][coreID] = core
		}
		core.Threads = append(core.Threads, number)
	}
	for _, node := range asked.Nodes {
		found := cadvisorapi.Node{Id: node.ID, Memory: node.Memory, Distances: node.Distances}
		for _, pages := range node.HugePages {
			found.HugePages = append(found.HugePages, cadvisorapi.HugePagesInfo{PageSize: pages[0], NumPages: pages[1]})
		}
		for _, core := range cores[node.ID] {
			found.Cores = append(found.Cores, *core)
		}
		slices.SortFunc(found.Cores, func(a, b cadvisorapi.Core) int { return a.Id - b.Id })
		info.Topology = append(info.Topology, found)
	}
	info.NumSockets = len(sockets)
	return info
}

// object returns the pod as the API server hands it to the kubelet.
func (pod *Pod) object() *v1.Pod {
	always := v1.ContainerRestartPolicyAlways
	object := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: types.UID(pod.Name)}}
	for _, container := range pod.Containers {
		made := v1.Container{Name: container.Name, Resources: container.resources()}
		switch container.Role {
		case "init":
			object.Spec.InitContainers = append(object.Spec.InitContainers, made)
		case "sidecar":
			made.RestartPolicy = &always
			object.Spec.InitContainers = append(object.Spec.InitContainers, made)
		default:
			object.Spec.Containers = append(object.Spec.Containers, made)
		}
	}
	return object
}

func (container *Container) resources() v1.ResourceRequirements {
	requests, limits := v1.ResourceList{}, v1.ResourceList{}
	set := func(list v1.ResourceList, name v1.ResourceName, value *int64, milli bool) {
		if value == nil {
			return
		}
		if milli {
			list[name] = *resource.NewMilliQuantity(*value, resource.DecimalSI)
		} else {
			list[name] = *resource.NewQuantity(*value, resource.BinarySI)
		}
	}
	set(requests, v1.ResourceCPU, container.CpuM, true)
	set(limits, v1.ResourceCPU, container.CpuLimitM, true)
	set(requests, v1.ResourceMemory, container.Memory, false)
	set(limits, v1.ResourceMemory, container.MemoryLimit, false)
	for _, pages := range container.HugePages {
		set(requests, hugePages(pages[0]), &pages[1], false)
		set(limits, hugePages(pages[0]), &pages[1], false)
	}
	for name, count := range container.Devices {
		set(requests, v1.ResourceName(name), &count, false)
		set(limits, v1.ResourceName(name), &count, false)
	}
	return v1.ResourceRequirements{Requests: requests, Limits: limits}
}

// hugePages returns the resource name of a page size in KiB.
func hugePages(kib int64) v1.ResourceName {
	size := resource.NewQuantity(kib*1024, resource.BinarySI)
	return v1.ResourceName(fmt.Sprintf("%s%s", v1.ResourceHugePagesPrefix, size.String()))
}
