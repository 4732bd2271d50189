// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"time"
)

const (
	readyLimit = 120 * time.Second
	askAgain   = 100 * time.Millisecond
)

// awaitReady returns when the server says that it is ready; it offers no event for that. The port is
// this process's own, so its certificate need not be checked here.
func awaitReady(ctx context.Context, at ready) error {
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	ctx, end := context.WithTimeout(ctx, readyLimit)
	defer end()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.URL+"/readyz", nil)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+at.Token)
		answer, err := client.Do(request)
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it is not ready after %s", readyLimit)
		case <-time.After(askAgain):
		}
	}
}
