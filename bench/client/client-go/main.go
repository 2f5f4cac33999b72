// A contestant of bench/client: client-go's typed client, without its rate limit. Plays the rounds that standard input
// asks for, one a line of JSON, as bench/client/rounds.ts says.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const namespace = "default"

type round struct {
	Seconds     float64 `json:"seconds"`
	Concurrency int     `json:"concurrency"`
}

type done struct {
	Requests int64   `json:"requests"`
	Seconds  float64 `json:"seconds"`
}

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: client-go KUBECONFIG CONTENT-TYPE"))
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		fail(err)
	}
	config.QPS = -1
	config.ContentType = os.Args[2]
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		fail(err)
	}
	answers := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var asked round
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fail(err)
		}
		if err := answers.Encode(play(clientset, asked)); err != nil {
			fail(err)
		}
	}
}

var requests atomic.Int64

func play(clientset kubernetes.Interface, asked round) done {
	before, begun := requests.Load(), time.Now()
	end := begun.Add(time.Duration(asked.Seconds * float64(time.Second)))
	var workers sync.WaitGroup
	for worker := range asked.Concurrency {
		workers.Go(func() {
			name := "bench-" + strconv.Itoa(worker)
			for time.Now().Before(end) {
				patch(clientset, name, requests.Add(1))
			}
		})
	}
	workers.Wait()
	return done{requests.Load() - before, time.Since(begun).Seconds()}
}

func patch(clientset kubernetes.Interface, name string, count int64) {
	body, err := json.Marshal(map[string]any{"data": map[string]string{"count": strconv.FormatInt(count, 10)}})
	if err != nil {
		fail(err)
	}
	configMaps := clientset.CoreV1().ConfigMaps(namespace)
	if _, err := configMaps.Patch(context.Background(), name, types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "client-go:", err)
	os.Exit(1)
}
