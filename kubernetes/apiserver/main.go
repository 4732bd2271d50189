// SPDX-License-Identifier: Apache-2.0

// Command apiserver runs the kube-apiserver of the pinned release with an etcd of its own, in one
// process, on a port of 127.0.0.1 that the kernel chooses. It keeps all state in the folder that its
// argument names, prints one line of JSON (url, authority, token) when it is ready, and ends when its
// standard input does. Only tests use it: whoever has the token may do everything.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// ready is what a client needs.
type ready struct {
	URL string `json:"url"`
	// PEM file of the authority that signed the server's certificate.
	Authority string `json:"authority"`
	Token     string `json:"token"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "apiserver: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: apiserver FOLDER, which must exist")
	}
	folder, err := filepath.Abs(os.Args[1])
	if err != nil {
		return err
	}
	// etcd's socket has a relative name, which is never too long for a socket.
	if err := os.Chdir(folder); err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		reader := bufio.NewReader(os.Stdin)
		for {
			if _, err := reader.ReadByte(); err != nil {
				end()
				return
			}
		}
	}()
	storage, err := startEtcd(folder)
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer storage.Close()
	return serve(ctx, folder, func(at ready) error { return json.NewEncoder(os.Stdout).Encode(at) })
}
