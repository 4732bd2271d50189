// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

const (
	// Sockets in the working folder: etcd wants a port after the name.
	clients = "unix://clients:0"
	peers   = "unix://peers:0"

	startLimit = 60 * time.Second
)

// startEtcd starts a cluster of one, which does not wait for its disk, and returns it when it serves.
func startEtcd(folder string) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = filepath.Join(folder, "etcd")
	config.LogLevel = "error"
	config.LogOutputs = []string{filepath.Join(folder, "etcd.log")}
	config.UnsafeNoFsync = true
	client, peer := parsed(clients), parsed(peers)
	config.ListenClientUrls, config.AdvertiseClientUrls = client, client
	config.ListenPeerUrls, config.AdvertisePeerUrls = peer, peer
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-server.Server.ReadyNotify():
		return server, nil
	case err := <-server.Err():
		return nil, err
	case <-time.After(startLimit):
		server.Close()
		return nil, fmt.Errorf("it is not ready after %s", startLimit)
	}
}

func parsed(address string) []url.URL {
	found, err := url.Parse(address)
	if err != nil {
		panic(err) // of a constant
	}
	return []url.URL{*found}
}
