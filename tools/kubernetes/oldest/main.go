// Command oldest says what an older kube-apiserver has against definitions, with that server's own code: structure,
// the CEL functions that it knows, and the estimated cost of the rules, which differ from version to version.
package main

import (
	"context"
	"fmt"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

func main() {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	refused := 0
	for _, file := range os.Args[1:] {
		complaints, err := complaintsAbout(scheme, file)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
			refused++
			continue
		}
		for _, complaint := range complaints {
			fmt.Fprintf(os.Stderr, "%s: %v\n", file, complaint)
		}
		if len(complaints) > 0 {
			refused++
		}
	}
	fmt.Printf("%d definitions, %d refused\n", len(os.Args)-1, refused)
	if refused > 0 || len(os.Args) == 1 {
		os.Exit(1)
	}
}

// The way of a POST: strict decoding, defaults, the internal version, what a new definition has to meet.
func complaintsAbout(scheme *runtime.Scheme, file string) (field.ErrorList, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	stated := &v1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, stated); err != nil {
		return nil, err
	}
	scheme.Default(stated)
	definition := &apiextensions.CustomResourceDefinition{}
	if err := scheme.Convert(stated, definition, nil); err != nil {
		return nil, err
	}
	return validation.ValidateCustomResourceDefinition(context.Background(), definition), nil
}
