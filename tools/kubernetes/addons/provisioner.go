package main

import (
	"context"
	"os"
	"path/filepath"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// The StorageClass in node/cluster.yaml names it.
const provisionerName = "openstack-operator/local"

// localVolumes gives each claim a directory of the node.
type localVolumes struct{ root string }

func (volumes localVolumes) Provision(_ context.Context, options controller.ProvisionOptions) (*core.PersistentVolume, controller.ProvisioningState, error) {
	claim := options.PVC
	directory := filepath.Join(volumes.root, claim.Namespace+"_"+claim.Name+"_"+options.PVName)
	if err := os.MkdirAll(directory, 0o777); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	// A pod without fsGroup may write too, whatever the umask is.
	if err := os.Chmod(directory, 0o777); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	return &core.PersistentVolume{
		ObjectMeta: meta.ObjectMeta{Name: options.PVName},
		Spec: core.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *options.StorageClass.ReclaimPolicy,
			AccessModes:                   claim.Spec.AccessModes,
			Capacity:                      core.ResourceList{core.ResourceStorage: claim.Spec.Resources.Requests[core.ResourceStorage]},
			// Not hostPath: the kubelet applies fsGroup to local volumes only. These need a node.
			PersistentVolumeSource: core.PersistentVolumeSource{Local: &core.LocalVolumeSource{Path: directory}},
			NodeAffinity: &core.VolumeNodeAffinity{Required: &core.NodeSelector{NodeSelectorTerms: []core.NodeSelectorTerm{{
				MatchExpressions: []core.NodeSelectorRequirement{{
					Key: core.LabelHostname, Operator: core.NodeSelectorOpIn, Values: []string{options.SelectedNodeName},
				}},
			}}}},
		},
	}, controller.ProvisioningFinished, nil
}

func (volumes localVolumes) Delete(_ context.Context, volume *core.PersistentVolume) error {
	return os.RemoveAll(volume.Spec.Local.Path)
}

func provision(kubeconfig, root string) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		fail(err.Error())
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		fail(err.Error())
	}
	controller.NewProvisionController(context.Background(), client, provisionerName, localVolumes{root}, controller.LeaderElection(false)).
		Run(context.Background())
}
