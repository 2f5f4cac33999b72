import { minimalControlPlane } from '@openstack-operator/cli';
import {
  type Client,
  ClusterRole,
  ConfigMap,
  DaemonSet,
  Deployment,
  Event,
  Job,
  type Kind,
  type KubeObject,
  Namespace,
  Node,
  Pod,
  ReplicaSet,
  RoleBinding,
  Secret,
  StatefulSet,
  type Transport,
} from '@openstack-operator/kube';
import { CephStorage, Keystone, Nova, OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uniqueName } from '../conformance/server.ts';
import { eventually } from '../eventually.ts';
import { client, clientOf, ensure, installDefault, makeNamespace, withNodeAgents } from './real-operator.ts';

/** Labelled for node agents; `other` is not. */
const namespace = uniqueName('agents');
const other = uniqueName('plain');
/** Of an object that does not exist. */
const unknownUid = '00000000-0000-4000-8000-000000000000';
const ours = { 'app.kubernetes.io/managed-by': 'openstack-operator' };
const operator = clientOf(
  'system:serviceaccount:openstack-operator-system:openstack-operator',
  'system:serviceaccounts',
  'system:serviceaccounts:openstack-operator-system',
);
/** Bound to ClusterRole edit in both namespaces. */
const editor = clientOf(`system:serviceaccount:${namespace}:editor`, 'system:serviceaccounts');
/** Bound to openstack-operator-use-nodes as well. */
const cloudAdmin = clientOf(`system:serviceaccount:${namespace}:cloud-admin`, 'system:serviceaccounts');

const bind = (inNamespace: string, account: string, role: string): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: `${account}-${role}`, namespace: inNamespace },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
});

const restricted = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};
const container = (securityContext: object = restricted, more: object = {}) => ({
  name: 'main',
  image: 'example.org/image:1',
  securityContext,
  ...more,
});
const plain = { containers: [container()] };
const agent = {
  tolerations: [{ operator: 'Exists' }],
  hostNetwork: true,
  containers: [container({ privileged: true })],
};

const pod = (spec: object, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: uniqueName('pod'), namespace, ...metadata },
  spec,
});
const workload = (kind: string, spec: object, metadata: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: uniqueName(kind.toLowerCase()), namespace, ...metadata },
  spec: {
    selector: { matchLabels: { app: 'x' } },
    template: { metadata: { labels: { app: 'x', ...ours } }, spec },
  },
});
const create = (by: { client: Client }, kind: Kind, object: KubeObject) => by.client.create(kind, object);
const statusOf = async (transport: Transport, method: string, path: string) => {
  const answer = await transport.request({ method, path, headers: { accept: 'application/json' } });
  let text = '';
  for await (const chunk of answer.body) text += Buffer.from(chunk).toString();
  return `${answer.status} ${text}`;
};
const controlPlane = (inNamespace: string) => ({
  ...minimalControlPlane,
  metadata: { name: uniqueName('cloud'), namespace: inNamespace },
});

/** A node agent as the operator writes it, and the name of a pod that came of it. */
let daemonSet: string;
let agentPod: string;

beforeAll(async () => {
  installDefault();
  await makeNamespace(namespace, withNodeAgents);
  await makeNamespace(other);
  for (const one of [namespace, other]) {
    for (const account of ['editor', 'cloud-admin']) await ensure(bind(one, account, 'edit'), RoleBinding);
    await ensure(bind(one, 'cloud-admin', 'openstack-operator-use-nodes'), RoleBinding);
  }
  // Which edit does not give, but others may.
  const rule = { apiGroups: [''], resources: ['pods/ephemeralcontainers'], verbs: ['patch'] };
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'debug-pods' } };
  await ensure({ ...role, rules: [rule] }, ClusterRole);
  await ensure(bind(namespace, 'editor', 'debug-pods'), RoleBinding);
  await ensure({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-of-admission' } });
  // Policies and aggregated roles take a moment.
  await eventually(
    () => create(editor, Pod, pod(agent)).then(() => '', String),
    (refusal) => refusal.includes('exceeds the Pod Security Standard'),
  );
  await eventually(
    () =>
      create(cloudAdmin, Keystone, { ...keystone(), metadata: { name: uniqueName('k'), namespace } }).then(
        () => '',
        String,
      ),
    (refusal) => refusal === '',
  );
  daemonSet = (await create(operator, DaemonSet, workload('DaemonSet', agent, { labels: ours }))).metadata.name;
  const pods = await eventually(
    () => client.list(Pod, { namespace, labelSelector: 'app=x' }),
    ({ items }) => items.length > 0,
  );
  agentPod = pods.items[0]?.metadata.name ?? '';
}, 180_000);
afterAll(async () => {
  // The operator of the next file would build them, on its nodes.
  for (const kind of [OpenStackControlPlane, OVNNetwork] as Kind[]) {
    for (const { metadata } of (await client.list(kind)).items) {
      await client.delete(kind, { name: metadata.name, namespace: metadata.namespace ?? '' });
    }
  }
  await Promise.all([operator.client, editor.client, cloudAdmin.client].map((one) => one.close()));
});

function keystone(): KubeObject {
  const { apiVersion } = minimalControlPlane;
  return { apiVersion, kind: 'Keystone', metadata: { name: uniqueName('keystone'), namespace }, spec: {} };
}

test('an editor states what runs no agents, and none of what does, in any namespace', async () => {
  await create(editor, Keystone, keystone());
  for (const one of [namespace, other]) {
    await expect(create(editor, OpenStackControlPlane, controlPlane(one))).rejects.toThrow(
      /may not "use-nodes" on openstackcontrolplanes.openstack.k8s.io in namespace .* a cluster administrator may bind/,
    );
    await create(cloudAdmin, OpenStackControlPlane, controlPlane(one));
  }
});

test('of a cloud that exists an editor changes annotations and not the spec, of no resource with agents', async () => {
  const made = await create(cloudAdmin, OpenStackControlPlane, controlPlane(namespace));
  const ref = { namespace, name: made.metadata.name };
  const patch = (by: { client: Client }, body: object) => by.client.patch(OpenStackControlPlane, ref, 'merge', body);
  await patch(editor, { metadata: { annotations: { 'openstack.k8s.io/paused': 'true' } } });
  await expect(patch(editor, { spec: { imageRegistry: 'evil.example.org' } })).rejects.toThrow('use-nodes');
  await patch(cloudAdmin, { spec: { imageRegistry: 'registry.example.org' } });
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: unknownUid };
  await expect(patch(editor, { metadata: { ownerReferences: [owner] } })).rejects.toThrow('use-nodes');
  const nova = {
    apiVersion: made.apiVersion,
    kind: 'Nova',
    metadata: { name: uniqueName('nova'), namespace },
    spec: {},
  };
  await expect(create(editor, Nova, nova)).rejects.toThrow('use-nodes');
  const ceph = {
    ...nova,
    kind: 'CephStorage',
    spec: { external: { monitorHosts: '10.0.0.1', keyringSecretName: 'keyrings', cephConfSecretName: 'ceph-conf' } },
  };
  await expect(create(editor, CephStorage, ceph)).rejects.toThrow('use-nodes');
});

test('an editor changes labels, and not those that say of which cloud what lost its owner is', async () => {
  const { apiVersion } = minimalControlPlane;
  const metadata = { name: uniqueName('net'), namespace, labels: { 'app.kubernetes.io/instance': 'cloud' } };
  const { name } = (await create(cloudAdmin, OVNNetwork, { apiVersion, kind: 'OVNNetwork', metadata, spec: {} }))
    .metadata;
  const relabel = (by: { client: Client }, labels: Record<string, string | null> | null) =>
    by.client.patch(OVNNetwork, { namespace, name }, 'merge', { metadata: { labels } });
  await relabel(editor, { a: 'b' });
  await expect(relabel(editor, ours)).rejects.toThrow('use-nodes');
  await expect(relabel(editor, { 'app.kubernetes.io/instance': 'evil' })).rejects.toThrow('use-nodes');
  await expect(relabel(editor, { 'app.kubernetes.io/instance': null })).rejects.toThrow('use-nodes');
  await expect(relabel(editor, null)).rejects.toThrow('use-nodes');
  await relabel(cloudAdmin, { ...ours, 'app.kubernetes.io/instance': null });
  await expect(relabel(editor, { 'app.kubernetes.io/managed-by': null })).rejects.toThrow('use-nodes');
  await relabel(operator, { 'app.kubernetes.io/instance': 'cloud' });
  await relabel(editor, { a: null });
});

test.each([
  ['privileged', { containers: [container({ ...restricted, privileged: true, allowPrivilegeEscalation: true })] }],
  ['in the network of the host', { ...plain, hostNetwork: true }],
  ['with the processes of the host', { ...plain, hostPID: true }],
  ['with the IPC of the host', { ...plain, hostIPC: true }],
  ['with a path of the host', { ...plain, volumes: [{ name: 'v', hostPath: { path: '/' } }] }],
  ['with a port of the host', { containers: [container(restricted, { ports: [{ containerPort: 1, hostPort: 1 }] })] }],
  [
    'whose probe asks another host',
    { containers: [{ ...container(restricted), livenessProbe: { httpGet: { host: '169.254.169.254', port: 80 } } }] },
  ],
  [
    'whose end asks another host',
    {
      containers: [{ ...container(restricted), lifecycle: { preStop: { tcpSocket: { host: '10.0.0.1', port: 80 } } } }],
    },
  ],
  ['as root', { containers: [container({ ...restricted, runAsUser: 0, runAsNonRoot: false })] }],
  ['maybe as root', { containers: [container({ ...restricted, runAsNonRoot: undefined })] }],
  ['without seccomp', { containers: [container({ ...restricted, seccompProfile: { type: 'Unconfined' } })] }],
  ['with escalation', { containers: [container({ ...restricted, allowPrivilegeEscalation: undefined })] }],
  [
    'with a capability',
    { containers: [container({ ...restricted, capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } })] },
  ],
  ['with all capabilities', { containers: [container({ ...restricted, capabilities: {} })] }],
  [
    'with an init container that is privileged',
    { ...plain, initContainers: [{ ...container({ privileged: true }), name: 'i' }] },
  ],
  ['with a kernel setting', { ...plain, securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }],
])('an editor makes no pod %s', async (_, spec) => {
  await expect(create(editor, Pod, pod(spec))).rejects.toThrow('exceeds the Pod Security Standard');
  await expect(create(editor, DaemonSet, workload('DaemonSet', spec))).rejects.toThrow('exceeds the Pod Security');
});

test('an editor makes pods that are restricted, and by no detour others', async () => {
  const made = await create(editor, Pod, pod(plain));
  await create(editor, DaemonSet, workload('DaemonSet', plain));
  // A reference to the operator's DaemonSet makes no agent.
  const { uid } = (await client.get(DaemonSet, { namespace, name: daemonSet })).metadata;
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: daemonSet, uid, controller: true };
  await expect(create(editor, Pod, pod(agent, { ownerReferences: [owner] }))).rejects.toThrow('exceeds');
  const debug = { spec: { ephemeralContainers: [{ ...container({ privileged: true }), name: 'debug' }] } };
  const ref = { namespace, name: made.metadata.name };
  const options = { subresource: 'ephemeralcontainers' };
  await expect(editor.client.patch(Pod, ref, 'merge', debug, options)).rejects.toThrow('exceeds');
  // What the pods of a controller are made from is refused itself; those of a Job are refused as they come.
  for (const kind of [Deployment, ReplicaSet, StatefulSet] as Kind[])
    await expect(create(editor, kind, workload(kind.kind, agent))).rejects.toThrow('exceeds');
  const metadata = { name: uniqueName('job'), namespace };
  const template = { spec: { ...agent, restartPolicy: 'Never' } };
  await create(editor, Job, { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template } });
  await eventually(
    () => client.list(Event, { namespace, fieldSelector: `involvedObject.name=${metadata.name}` }),
    ({ items }) => JSON.stringify(items).includes('exceeds the Pod Security Standard'),
  );
});

test.each([
  ['Deployment', Deployment],
  ['StatefulSet', StatefulSet],
] as [string, Kind][])(
  'a %s of the operator has pods that use their node, in a labelled namespace alone',
  async (name, kind) => {
    const app = uniqueName('host');
    const labels = { ...ours, app };
    const wanted = (inNamespace: string, spec: object) => {
      const metadata = { name: app, namespace: inNamespace, labels };
      const template = { metadata: { labels }, spec };
      return { apiVersion: 'apps/v1', kind: name, metadata, spec: { selector: { matchLabels: { app } }, template } };
    };
    await create(operator, kind, wanted(namespace, agent));
    const { items } = await eventually(
      () => client.list(Pod, { namespace, labelSelector: `app=${app}` }),
      (pods) => pods.items.length > 0,
    );
    const ref = { namespace, name: items[0]?.metadata.name ?? '' };
    const image = { spec: { containers: [{ name: 'main', image: 'evil.example.org/image:1' }] } };
    await expect(editor.client.patch(Pod, ref, 'strategic', image)).rejects.toThrow('exceeds');
    const restrictedPods = { ...plain, securityContext: { runAsNonRoot: true } };
    await create(operator, kind, wanted(other, restrictedPods));
    const change = { spec: { template: { spec: { hostNetwork: true } } } };
    await expect(operator.client.patch(kind, { namespace: other, name: app }, 'merge', change)).rejects.toThrow(
      `kubectl label namespace ${other} openstack.k8s.io/node-agents=allowed`,
    );
  },
);

test('the pods of the operator’s DaemonSets come to be, and an editor neither changes nor enters them', async () => {
  expect(agentPod).not.toBe('');
  const ref = { namespace, name: agentPod };
  const image = { spec: { containers: [{ name: 'main', image: 'evil.example.org/image:1' }] } };
  await expect(editor.client.patch(Pod, ref, 'strategic', image)).rejects.toThrow('exceeds');
  await editor.client.patch(Pod, ref, 'merge', { metadata: { annotations: { a: 'b' } } });
  const base = `/api/v1/namespaces/${namespace}`;
  for (const path of [
    ...['exec?command=id', 'attach', 'portforward?ports=1', 'proxy/'].map((way) => `${base}/pods/${agentPod}/${way}`),
    `${base}/services/http:leads-there:80/proxy/`,
  ]) {
    const method = path.endsWith('proxy/') ? 'GET' : 'POST';
    expect(await statusOf(editor.transport, method, path)).toMatch(/^403 .*is closed in a namespace with node agents/);
    expect(await statusOf(cloudAdmin.transport, method, path)).not.toMatch(/^403/);
  }
  const set = { namespace, name: daemonSet };
  await expect(editor.client.patch(DaemonSet, set, 'merge', { metadata: { labels: { a: 'b' } } })).rejects.toThrow(
    'belongs to openstack-operator',
  );
  await expect(
    editor.client.patch(DaemonSet, set, 'merge', { spec: { template: { spec: { hostPID: true } } } }),
  ).rejects.toThrow(/belongs to openstack-operator|exceeds/);
  await expect(editor.client.delete(DaemonSet, set)).rejects.toThrow('belongs to openstack-operator');
});

test('what agents read is the operator’s; what users bring is theirs', async () => {
  for (const [kind, name, content] of [
    [ConfigMap as Kind, 'ConfigMap', { data: { a: 'b' } }],
    [Secret as Kind, 'Secret', { stringData: { a: 'b' } }],
  ] as const) {
    const object = (labels: Record<string, string>): KubeObject => ({
      apiVersion: 'v1',
      kind: name,
      metadata: { name: uniqueName('x'), namespace, labels },
      ...content,
    });
    const made = await create(operator, kind, object(ours));
    const ref = { namespace, name: made.metadata.name };
    const refusal = /belongs to openstack-operator/;
    await expect(editor.client.patch(kind, ref, 'merge', content)).rejects.toThrow(refusal);
    await expect(editor.client.patch(kind, ref, 'merge', { metadata: { labels: null } })).rejects.toThrow(refusal);
    await expect(editor.client.delete(kind, ref)).rejects.toThrow(refusal);
    await expect(create(editor, kind, object(ours))).rejects.toThrow(refusal);
    for (const planted of [
      { annotations: { 'openstack.k8s.io/adopt': 'Nova.x' } },
      { ownerReferences: [{ apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Nova', name: 'x', uid: unknownUid }] },
    ]) {
      const base = object({});
      const wanted = { ...base, metadata: { ...base.metadata, ...planted } };
      await expect(create(editor, kind, wanted)).rejects.toThrow(refusal);
    }
    const own = await create(editor, kind, object({}));
    await expect(
      editor.client.patch(kind, { namespace, name: own.metadata.name }, 'merge', { metadata: { labels: ours } }),
    ).rejects.toThrow(refusal);
    await editor.client.delete(kind, { namespace, name: own.metadata.name });
  }
});

test('a Job fills the Secret that is made for what it makes, and changes nothing else of it', async () => {
  const publisher = clientOf(`system:serviceaccount:${namespace}:publisher`, 'system:serviceaccounts');
  await ensure(bind(namespace, 'publisher', 'edit'), RoleBinding);
  const annotations = { 'openstack.k8s.io/published-by': 'publisher' };
  const metadata = { name: uniqueName('rings'), namespace, labels: ours, annotations };
  await create(operator, Secret, { apiVersion: 'v1', kind: 'Secret', metadata });
  const patch = (by: { client: Client }, body: object) =>
    by.client.patch(Secret, { namespace, name: metadata.name }, 'merge', body);
  await patch(publisher, { data: { 'object.ring': 'eA==' } });
  const refusal = /belongs to openstack-operator/;
  await expect(patch(editor, { data: { 'object.ring': 'eQ==' } })).rejects.toThrow(refusal);
  await expect(patch(publisher, { metadata: { annotations: { a: 'b' } } })).rejects.toThrow(refusal);
  await expect(patch(publisher, { metadata: { labels: null } })).rejects.toThrow(refusal);
  await publisher.client.close();
});

test('node agents come to be in a labelled namespace alone', async () => {
  await expect(
    create(operator, DaemonSet, workload('DaemonSet', agent, { namespace: other, labels: ours })),
  ).rejects.toThrow(`kubectl label namespace ${other} openstack.k8s.io/node-agents=allowed`);
  const foreign = await create(editor, DaemonSet, workload('DaemonSet', plain, { namespace: other }));
  await expect(
    operator.client.patch(DaemonSet, { namespace: other, name: foreign.metadata.name }, 'merge', {
      metadata: { labels: ours },
    }),
  ).rejects.toThrow('openstack.k8s.io/node-agents=allowed');
});

test('the operator writes its own labels of a node, and no pods and Secrets of others', async () => {
  const node = { name: 'node-of-admission' };
  const patch = (body: object) => operator.client.patch(Node, node, 'merge', body);
  await client.patch(Node, node, 'merge', { metadata: { labels: { role: 'x' } } });
  await patch({ metadata: { labels: { 'openstack.k8s.io/cloud': 'a.b' } } });
  await patch({ metadata: { labels: { 'openstack.k8s.io/cloud': null } } });
  for (const body of [
    { metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } } },
    { metadata: { labels: { role: 'y' } } },
    { metadata: { labels: { role: null } } },
    { metadata: { annotations: { a: 'b' } } },
    { spec: { unschedulable: true } },
  ]) {
    await expect(patch(body)).rejects.toThrow('the operator writes no more of a node than labels');
  }
  const foreign = await create(editor, Pod, pod(plain));
  await expect(operator.client.delete(Pod, { namespace, name: foreign.metadata.name })).rejects.toThrow(
    'the operator deletes no pods but its own',
  );
  await expect(
    create(operator, Secret, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x', namespace } }),
  ).rejects.toThrow('the operator writes no Secrets but its own');
});

test('a namespace with all of it goes', async () => {
  const gone = uniqueName('going');
  await makeNamespace(gone, withNodeAgents);
  await create(operator, DaemonSet, workload('DaemonSet', agent, { namespace: gone, labels: ours }));
  await create(operator, ConfigMap, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x', namespace: gone, labels: ours },
  });
  await client.delete(Namespace, { name: gone });
  await eventually(
    () =>
      client.get(Namespace, { name: gone }).then(
        () => true,
        () => false,
      ),
    (there) => !there,
  );
});
