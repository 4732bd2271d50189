// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"

	"google.golang.org/grpc"
	v1 "k8s.io/api/core/v1"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	cpustate "k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/state"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
)

// cpuProvider is the CPU Manager's policy as a hint provider.
type cpuProvider struct {
	policy cpumanager.Policy
	state  cpustate.State
}

func (cpus *cpuProvider) GetTopologyHints(pod *v1.Pod, container *v1.Container) map[string][]topologymanager.TopologyHint {
	return cpus.policy.GetTopologyHints(cpus.state, pod, container)
}

func (cpus *cpuProvider) GetPodTopologyHints(pod *v1.Pod) map[string][]topologymanager.TopologyHint {
	return cpus.policy.GetPodTopologyHints(cpus.state, pod)
}

func (cpus *cpuProvider) Allocate(pod *v1.Pod, container *v1.Container) error {
	return cpus.policy.Allocate(cpus.state, pod, container)
}

// plugin is a device plugin that prefers the devices with the lowest ids.
type plugin struct{ resource string }

func (p plugin) API() pluginapi.DevicePluginClient { return p }
func (p plugin) Resource() string                  { return p.resource }
func (p plugin) SocketPath() string                { return "" }

func (plugin) GetDevicePluginOptions(context.Context, *pluginapi.Empty, ...grpc.CallOption) (*pluginapi.DevicePluginOptions, error) {
	return &pluginapi.DevicePluginOptions{GetPreferredAllocationAvailable: true}, nil
}

func (plugin) ListAndWatch(context.Context, *pluginapi.Empty, ...grpc.CallOption) (grpc.ServerStreamingClient[pluginapi.ListAndWatchResponse], error) {
	return nil, errors.New("devices are pushed, not watched")
}

func (plugin) GetPreferredAllocation(_ context.Context, in *pluginapi.PreferredAllocationRequest, _ ...grpc.CallOption) (*pluginapi.PreferredAllocationResponse, error) {
	asked := in.ContainerRequests[0]
	chosen := slices.Clone(asked.MustIncludeDeviceIDs)
	slices.Sort(asked.AvailableDeviceIDs)
	for _, id := range asked.AvailableDeviceIDs {
		if len(chosen) < int(asked.AllocationSize) && !slices.Contains(chosen, id) {
			chosen = append(chosen, id)
		}
	}
	return &pluginapi.PreferredAllocationResponse{
		ContainerResponses: []*pluginapi.ContainerPreferredAllocationResponse{{DeviceIDs: chosen}},
	}, nil
}

func (plugin) Allocate(_ context.Context, in *pluginapi.AllocateRequest, _ ...grpc.CallOption) (*pluginapi.AllocateResponse, error) {
	answer := &pluginapi.AllocateResponse{}
	for range in.ContainerRequests {
		answer.ContainerResponses = append(answer.ContainerResponses, &pluginapi.ContainerAllocateResponse{})
	}
	return answer, nil
}

func (plugin) PreStartContainer(context.Context, *pluginapi.PreStartContainerRequest, ...grpc.CallOption) (*pluginapi.PreStartContainerResponse, error) {
	return &pluginapi.PreStartContainerResponse{}, nil
}

// listed returns the devices as a plugin reports them, all healthy.
func listed(devices []Device) *pluginapi.ListAndWatchResponse {
	answer := &pluginapi.ListAndWatchResponse{}
	for _, device := range devices {
		made := &pluginapi.Device{ID: device.ID, Health: pluginapi.Healthy}
		if device.Node != nil {
			made.Topology = &pluginapi.TopologyInfo{Nodes: []*pluginapi.NUMANode{{ID: *device.Node}}}
		}
		answer.Devices = append(answer.Devices, made)
	}
	return answer
}
