// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// serve runs the API server until the context ends, and calls whenReady once.
func serve(ctx context.Context, folder string, whenReady func(ready) error) error {
	token, err := writeSecrets(folder)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	wanted, err := parse(folder)
	if err != nil {
		return err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	wanted.SecureServing.Listener = listener
	wanted.SecureServing.BindPort = port
	completed, err := wanted.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return fmt.Errorf("options: %v", errs)
	}
	at := ready{
		URL:       fmt.Sprintf("https://127.0.0.1:%d", port),
		Authority: filepath.Join(folder, "certificates", "apiserver.crt"),
		Token:     token,
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	failed := make(chan error, 1)
	go func() {
		if err := awaitReady(ctx, at); err != nil {
			end()
			failed <- err
			return
		}
		failed <- whenReady(at)
	}()
	if err := app.Run(ctx, completed); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// parse returns the options that are not the defaults.
func parse(folder string) (*options.ServerRunOptions, error) {
	wanted := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range wanted.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	key := filepath.Join(folder, "accounts.key")
	return wanted, flags.Parse([]string{
		"--etcd-servers=" + clients,
		"--bind-address=127.0.0.1",
		"--cert-dir=" + filepath.Join(folder, "certificates"),
		"--token-auth-file=" + filepath.Join(folder, "tokens.csv"),
		"--authorization-mode=AlwaysAllow",
		"--anonymous-auth=false",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key,
		// Nothing here makes the accounts that it would ask for.
		"--disable-admission-plugins=ServiceAccount",
		"--allow-privileged=true",
	})
}

// writeSecrets writes a token and a key that live as long as the folder; it returns the token.
func writeSecrets(folder string) (string, error) {
	octets := make([]byte, 32)
	if _, err := rand.Read(octets); err != nil {
		return "", err
	}
	token := hex.EncodeToString(octets)
	line := []byte(token + ",admin,admin,system:masters\n")
	if err := os.WriteFile(filepath.Join(folder, "tokens.csv"), line, 0o600); err != nil {
		return "", err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return token, os.WriteFile(filepath.Join(folder, "accounts.key"), pem.EncodeToMemory(block), 0o600)
}
