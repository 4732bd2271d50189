// SPDX-License-Identifier: Apache-2.0

// Command oracle prints what a kubelet gives the containers of pods, by the kubelet's own code.
//
// It reads cases as lines of JSON from standard input and prints one answer a line. A case whose
// code uses more than -hang seconds of CPU time is answered with {"hung":true}; the program then
// ends with status 3, as Go cannot stop the loop. The caller starts it again for the rest.
//
// With file names it validates these files instead, as this release's kubelet and types do.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
)

// hungStatus is the exit status after a case that did not end.
const hungStatus = 3

func main() {
	hang := flag.Duration("hang", 5*time.Second, "CPU time after which a case counts as hung")
	flag.Parse()
	klog.SetLogger(logr.Discard())
	work := func() error { return run(os.Stdin, os.Stdout, *hang) }
	if flag.NArg() > 0 {
		work = func() error { return validate(flag.Args()) }
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, hang time.Duration) error {
	// The options of level alpha are judged, too.
	if err := utilfeature.DefaultMutableFeatureGate.Set("CPUManagerPolicyAlphaOptions=true"); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	answers := json.NewEncoder(out)
	for lines.Scan() {
		var asked Case
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return fmt.Errorf("case: %w", err)
		}
		answer, hung, err := answerWithin(&asked, hang)
		if err != nil {
			return err
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
		if hung {
			os.Exit(hungStatus)
		}
	}
	return lines.Err()
}

// answerWithin returns the answer, or that the case used more than its CPU time.
func answerWithin(asked *Case, hang time.Duration) (*Answer, bool, error) {
	type result struct {
		answer *Answer
		err    error
	}
	done := make(chan result, 1)
	go func() {
		answer, err := answerCase(asked)
		done <- result{answer, err}
	}()
	start := cpuTime()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case found := <-done:
			return found.answer, false, found.err
		case <-tick.C:
			if cpuTime()-start > hang {
				return &Answer{Hung: true}, true, nil
			}
		}
	}
}

func cpuTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
