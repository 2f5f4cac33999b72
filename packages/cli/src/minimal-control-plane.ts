import type { KubeObject } from '@openstack-operator/kube';

/** The smallest cloud: `config/samples/controlplane_minimal.yaml`, so that the demo needs no file. A test compares them. */
export const minimalControlPlane: KubeObject = {
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'OpenStackControlPlane',
  metadata: { name: 'my-cloud', namespace: 'openstack' },
  // Emulation runs everywhere; kvm, the default, needs hardware virtualization on the nodes.
  spec: { nova: { virtType: 'qemu' } },
};
