import { type KubeObject, Node } from '@openstack-operator/kube';
import { Keystone, MariaDB, OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';
import { type AdmissionRequest, StatusError } from '@openstack-operator/sandbox';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly, networkOnly, readyCloud } from './cloud.ts';

/** The words of a real API server (v1.36.3), but for how many reasons it lists. */
const violates =
  'violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true), privileged (container "agent" must not set securityContext.privileged=true)';
const quota = 'exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2';

const isOfHost = (pod: KubeObject) => (pod['spec'] as { hostNetwork?: boolean }).hostNetwork === true;
const ownedBy = (kind: string) => (pod: KubeObject) =>
  pod.metadata.ownerReferences?.some((owner) => owner.kind === kind) === true;

/** Refuses new pods, as an admission plugin does; gives what ends it. */
function refuse(cloud: Cloud, pods: (pod: KubeObject) => boolean, why: string): () => void {
  const { admission } = cloud.rehearsal.sandbox.api;
  const plugin = {
    name: 'Refusal',
    validate({ operation, subresource, object, served }: AdmissionRequest) {
      if (operation !== 'CREATE' || subresource !== '' || served.id !== 'pods' || !object || !pods(object)) return;
      throw new StatusError(403, 'Forbidden', `pods "${object.metadata.name}" is forbidden: ${why}`, {});
    },
  };
  admission.push(plugin);
  return () => void admission.splice(admission.indexOf(plugin), 1);
}

const sentence = (cloud: Cloud) => cloud.condition(OpenStackControlPlane, 'my-cloud')?.message ?? '';
const agents = (cloud: Cloud) => cloud.condition(OVNNetwork, 'my-cloud-ovn', 'AgentsReady');

test('pod security that refuses node agents is told in its words with the way out, and no longer once they are admitted', async () => {
  let lists = 0;
  const cloud = await createCloud({
    nodes: ['node-1', 'node-2'],
    wire: (transport) => ({
      ...transport,
      request: (request, signal) => {
        if (request.path.includes('FailedCreate')) lists++;
        return transport.request(request, signal);
      },
    }),
  });
  const admit = refuse(cloud, isOfHost, violates);
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(networkOnly)));
  await cloud.until(() => sentence(cloud).includes('PodSecurity'), 3);
  expect(agents(cloud)?.message).toMatch(
    /^agents are up on 0 of 2 nodes; node-1, node-2: DaemonSet my-cloud-ovn[-a-z]*: its pods are refused \(pods that use their node need label pod-security.kubernetes.io\/enforce=privileged on namespace openstack, see docs\/guides\/install.md\): violates PodSecurity "restricted:latest": host namespaces \(hostNetwork=true\)/,
  );
  await cloud.clock.advance(20 * 60_000);
  expect(agents(cloud)?.reason).toBe('ProgressDeadlineExceeded');
  expect(lists).toBeLessThanOrEqual(3 * cloud.list('DaemonSet').length + 3);
  admit();
  await cloud.ready(40);
  expect(agents(cloud)).toMatchObject({ status: 'True', reason: 'Done', message: '' });
});

test('a quota that is used up is told of StatefulSets, Deployments and Jobs', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const without = (kind: string) => refuse(cloud, ownedBy(kind), quota);
  const admit = without('StatefulSet');
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.until(() => sentence(cloud).includes(quota), 3);
  expect(cloud.condition(MariaDB, 'my-cloud-mariadb')?.message).toMatch(
    `StatefulSet my-cloud-mariadb: 0 of 1 pods are ready; its pods are refused: ${quota}`,
  );
  const deployments = without('ReplicaSet');
  const jobs = without('Job');
  admit();
  const keystone = () => cloud.condition(Keystone, 'my-cloud-keystone')?.message ?? '';
  await cloud.until(() => keystone().startsWith('Job') && keystone().includes(quota));
  expect(keystone()).toMatch(/^Job [-a-z]+ is running; its pods are refused: exceeded quota: few/);
  expect(sentence(cloud)).not.toContain('mariadb');
  jobs();
  await cloud.until(() => keystone().startsWith('Deployment') && keystone().includes(quota), 40);
  expect(keystone()).toMatch(/^Deployment [-a-z]+: 0 of 1 pods are new; its pods are refused: exceeded quota: few/);
  deployments();
  await cloud.ready(40);
  expect(keystone()).toBe('');
});

test('a node that comes later and is refused its agents is told of, though the cloud serves', async () => {
  const { cloud } = await readyCloud({ nodes: ['node-1'], spec: networkOnly });
  const admit = refuse(cloud, isOfHost, 'admission webhook "policy.example.com" denied the request: no');
  cloud.rehearsal.sandbox.nodes.add({ name: 'node-2', capacity: { cpu: '2', memory: '8Gi' } });
  await cloud.until(() => sentence(cloud) !== '', 3);
  expect(agents(cloud)?.reason).toBe('Degraded');
  expect(cloud.isReady('OpenStackControlPlane', 'my-cloud')).toBe(true);
  expect(sentence(cloud)).toMatch(/node-2: DaemonSet [-a-z]+: its pods are refused: admission webhook "policy/);
  admit();
  await cloud.until(() => sentence(cloud) === '');
});

test('what is to clean a node for a cloud and is refused is told of', async () => {
  const cloud = await createCloud({ nodes: ['node-1'] });
  refuse(cloud, isOfHost, violates);
  await cloud.change(Node, 'node-1', {
    metadata: { annotations: { 'openstack.k8s.io/released-from': 'other/net/1' } },
  });
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(networkOnly)));
  await cloud.until(() => sentence(cloud).includes('PodSecurity'), 3);
  expect(sentence(cloud)).toMatch(
    /node node-1, which other\/net has left, is not clean: DaemonSet my-cloud-node-cleaning: its pods are refused \(/,
  );
});
