// Command addons is what a cluster needs besides Kubernetes itself: `addons coredns` and `addons provisioner`.
//
// It is a binary of its own because CoreDNS claims global flags, which the programs of kk use too.
package main

import (
	"fmt"
	"os"

	"github.com/coredns/coredns/coremain"
	// Only what the Corefile names: the whole list of plugins draws in the SDKs of three public clouds.
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/ready"
)

func main() {
	if len(os.Args) < 2 {
		fail("say which: addons coredns [ARGUMENT...], or addons provisioner KUBECONFIG DIRECTORY")
	}
	program := os.Args[1]
	os.Args = os.Args[1:]
	switch program {
	case "coredns":
		coremain.Run()
	case "provisioner":
		if len(os.Args) != 3 {
			fail("provisioner takes two arguments: KUBECONFIG DIRECTORY")
		}
		provision(os.Args[1], os.Args[2])
	default:
		fail(fmt.Sprintf("no program %q; there are: coredns, provisioner", program))
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, "addons:", message)
	os.Exit(2)
}
