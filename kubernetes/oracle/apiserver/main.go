// SPDX-License-Identifier: Apache-2.0

// Command apiserver runs a kube-apiserver with an etcd of its own, for tests of rendered files.
//
// It listens on ports of 127.0.0.1 that the kernel chooses, and keeps everything in the folder
// -dir. Once it is ready it prints one line of JSON: its URL, the file of its certificate and a
// token with all rights. It ends when its standard input does, so it never outlives its caller.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// ready is the line that tells the caller how to connect.
type ready struct {
	URL   string `json:"url"`
	CA    string `json:"ca"`
	Token string `json:"token"`
}

func main() {
	dir := flag.String("dir", "", "empty folder for etcd's data, keys and certificates")
	flag.Parse()
	klog.SetLogger(logr.Discard())
	if *dir == "" {
		fmt.Fprintln(os.Stderr, "apiserver: -dir is required")
		os.Exit(2)
	}
	if err := run(*dir, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		os.Exit(1)
	}
}

// run serves until the input ends.
func run(dir string, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store, err := startEtcd(filepath.Join(dir, "etcd"))
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer store.Close()
	token, err := newToken()
	if err != nil {
		return err
	}
	options, err := serverOptions(dir, "http://"+store.Clients[0].Addr().String(), token)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, options) }()
	line := ready{
		URL:   "https://" + options.SecureServing.Listener.Addr().String(),
		CA:    filepath.Join(dir, "apiserver.crt"),
		Token: token,
	}
	if err := waitReady(ctx, line, ended); err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(line); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

func newToken() (string, error) {
	secret := make([]byte, 16)
	_, err := rand.Read(secret)
	return hex.EncodeToString(secret), err
}
