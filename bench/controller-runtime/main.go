// A contestant of bench/small-operator: the same operator with controller-runtime, as its users write one.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "controller-runtime:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 5 {
		return fmt.Errorf("usage: controller-runtime KUBECONFIG WORKERS RESYNC-SECONDS QPS BURST")
	}
	numbers := make([]int, 4)
	for i, text := range args[1:] {
		number, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		numbers[i] = number
	}
	workers, resync, qps, burst := numbers[0], time.Duration(numbers[1])*time.Second, numbers[2], numbers[3]

	if err := os.Setenv("KUBECONFIG", args[0]); err != nil {
		return err
	}
	ctrl.SetLogger(logr.Discard())
	access, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	// GetConfig sets QPS to -1, no limit, where nobody has set it.
	if qps > 0 {
		access.QPS, access.Burst = float32(qps), burst
	}
	scheme := clientgoscheme.Scheme
	if err := schemeBuilder.AddToScheme(scheme); err != nil {
		return err
	}
	operator, err := ctrl.NewManager(access, ctrl.Options{
		Scheme:     scheme,
		Metrics:    server.Options{BindAddress: "0"},
		Cache:      cache.Options{SyncPeriod: &resync},
		Controller: config.Controller{MaxConcurrentReconciles: workers},
	})
	if err != nil {
		return err
	}
	if err := (&Reconciler{operator.GetClient()}).SetupWithManager(operator); err != nil {
		return err
	}
	// Started when the caches are filled.
	if err := operator.Add(manager.RunnableFunc(func(context.Context) error {
		fmt.Println(`"ready"`)
		return nil
	})); err != nil {
		return err
	}
	return operator.Start(ctrl.SetupSignalHandler())
}
