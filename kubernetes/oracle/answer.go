// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
)

// Answer is what the kubelet does with the pods of a case.
type Answer struct {
	// StartError is why the kubelet does not start.
	StartError string `json:"start_error,omitempty"`
	// Hung is true if the kubelet's code never returned.
	Hung bool        `json:"hung,omitempty"`
	Pods []PodAnswer `json:"pods,omitempty"`
	// Shared lists the CPUs of containers without exclusive ones, after the last pod.
	Shared []int `json:"shared,omitempty"`
}

// PodAnswer is the answer to one pod; Reason is empty if it is admitted.
type PodAnswer struct {
	Reason     string            `json:"reason,omitempty"`
	Message    string            `json:"message,omitempty"`
	Containers []ContainerAnswer `json:"containers,omitempty"`
}

// ContainerAnswer is what one container gets.
type ContainerAnswer struct {
	Cpus []int `json:"cpus"`
	// Nodes is the affinity of the Topology Manager; null for none.
	Nodes   []int               `json:"nodes"`
	Memory  [][3]any            `json:"memory"`
	Devices map[string][]string `json:"devices"`
}

// answerCase admits the pods of a case one after another.
func answerCase(asked *Case) (*Answer, error) {
	kubelet, startError, err := newKubelet(asked)
	if err != nil {
		return nil, err
	}
	defer kubelet.close()
	if startError != nil {
		return &Answer{StartError: startError.Error()}, nil
	}
	answer := &Answer{}
	for number := range asked.Pods {
		pod := asked.Pods[number].object()
		kubelet.active = append(kubelet.active, pod)
		admitted := kubelet.topology.Admit(&lifecycle.PodAdmitAttributes{Pod: pod})
		if !admitted.Admit {
			kubelet.drop(pod)
			answer.Pods = append(answer.Pods, PodAnswer{Reason: admitted.Reason, Message: admitted.Message})
			continue
		}
		answer.Pods = append(answer.Pods, PodAnswer{Containers: kubelet.given(pod)})
	}
	answer.Shared = kubelet.shared()
	return answer, nil
}

func (kubelet *kubelet) given(pod *v1.Pod) []ContainerAnswer {
	var found []ContainerAnswer
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		uid := string(pod.UID)
		given := ContainerAnswer{Cpus: []int{}, Memory: [][3]any{}, Devices: map[string][]string{}}
		if kubelet.cpus != nil {
			cpus, _ := kubelet.cpus.state.GetCPUSet(uid, container.Name)
			given.Cpus = cpus.List()
		}
		if hint := kubelet.topology.GetAffinity(uid, container.Name); hint.NUMANodeAffinity != nil {
			given.Nodes = hint.NUMANodeAffinity.GetBits()
		}
		if kubelet.memory != nil {
			for _, block := range kubelet.memory.GetMemory(context.Background(), uid, container.Name) {
				given.Memory = append(given.Memory, [3]any{string(block.Type), block.Size, block.NUMAAffinity})
			}
			slices.SortFunc(given.Memory, func(a, b [3]any) int {
				if a[0].(string) < b[0].(string) {
					return -1
				}
				return 1
			})
		}
		if kubelet.devices != nil {
			for resource, devices := range kubelet.devices.GetDevices(uid, container.Name) {
				for id := range devices {
					given.Devices[resource] = append(given.Devices[resource], id)
				}
				slices.Sort(given.Devices[resource])
			}
		}
		found = append(found, given)
	}
	return found
}

func (kubelet *kubelet) shared() []int {
	if kubelet.cpus == nil {
		return nil
	}
	cpus := kubelet.cpus.state.GetDefaultCPUSet()
	return cpus.List()
}

// drop ends a refused pod: what its first containers got is free again.
func (kubelet *kubelet) drop(pod *v1.Pod) {
	kubelet.active = kubelet.active[:len(kubelet.active)-1]
	if kubelet.cpus == nil {
		return
	}
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if err := kubelet.cpus.policy.RemoveContainer(kubelet.cpus.state, string(pod.UID), container.Name); err != nil {
			panic(fmt.Sprintf("remove container %s: %v", container.Name, err))
		}
	}
}
