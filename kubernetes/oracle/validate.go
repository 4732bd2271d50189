// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	kubeletscheme "k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/validation"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// validate reads files of this release's own types strictly, an unknown field is an error, and
// checks a KubeletConfiguration as the kubelet does when it starts.
func validate(paths []string) error {
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := validateOne(text); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fmt.Println(path, "OK")
	}
	return nil
}

func validateOne(text []byte) error {
	if !strings.Contains(string(text), "kind: KubeletConfiguration") {
		reader := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme,
			json.SerializerOptions{Yaml: true, Strict: true})
		_, _, err := reader.Decode(text, nil, nil)
		return err
	}
	_, codecs, err := kubeletscheme.NewSchemeAndCodecs(serializer.EnableStrict)
	if err != nil {
		return err
	}
	object, _, err := codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return err
	}
	return validation.ValidateKubeletConfiguration(object.(*kubeletconfig.KubeletConfiguration), utilfeature.DefaultFeatureGate)
}
