// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/embed"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// startEtcd starts an etcd of one member and returns when it serves.
func startEtcd(dir string) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = dir
	config.LogLevel = "error"
	config.UnsafeNoFsync = true // A test's objects need not survive a crash.
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config.ListenClientUrls, config.AdvertiseClientUrls = anyPort, anyPort
	config.ListenPeerUrls, config.AdvertisePeerUrls = anyPort, anyPort
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	started, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-started.Server.ReadyNotify():
		return started, nil
	case <-time.After(time.Minute):
		started.Close()
		return nil, errors.New("not ready after a minute")
	}
}

// serverOptions returns the options of a server on a free port of 127.0.0.1.
func serverOptions(dir, etcd, token string) (*options.ServerRunOptions, error) {
	key, tokens := filepath.Join(dir, "accounts.key"), filepath.Join(dir, "tokens.csv")
	if err := writeKey(key); err != nil {
		return nil, err
	}
	if err := os.WriteFile(tokens, []byte(token+",test,test,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	made := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("apiserver", pflag.ContinueOnError)
	for _, set := range made.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	err = flags.Parse([]string{
		"--etcd-servers=" + etcd,
		"--cert-dir=" + dir,
		"--token-auth-file=" + tokens,
		"--authorization-mode=AlwaysAllow",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file=" + key,
		"--service-account-key-file=" + key,
		"--service-cluster-ip-range=10.0.0.0/24",
		// No controller makes the service accounts that this plugin waits for.
		"--disable-admission-plugins=ServiceAccount",
	})
	if err != nil {
		return nil, err
	}
	made.SecureServing.Listener = listener
	made.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	made.SecureServing.ExternalAddress = listener.Addr().(*net.TCPAddr).IP
	return made, nil
}

func writeKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	text, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// serve runs the server until the context ends.
func serve(ctx context.Context, made *options.ServerRunOptions) error {
	if err := made.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return err
	}
	completed, err := made.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return utilerrors.NewAggregate(errs)
	}
	return app.Run(ctx, completed)
}

// waitReady asks /readyz until it answers 200, and returns the server's error if it ends first.
func waitReady(ctx context.Context, line ready, ended <-chan error) error {
	limit := time.After(2 * time.Minute)
	for {
		if isReady(ctx, line) {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("ended before it was ready: %w", err)
		case <-limit:
			return errors.New("not ready after 2 minutes")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func isReady(ctx context.Context, line ready) bool {
	certificate, err := os.ReadFile(line.CA)
	if err != nil {
		return false // Not yet written.
	}
	known := x509.NewCertPool()
	known.AppendCertsFromPEM(certificate)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: known}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, line.URL+"/readyz", nil)
	if err != nil {
		return false
	}
	request.Header.Set("Authorization", "Bearer "+line.Token)
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}
