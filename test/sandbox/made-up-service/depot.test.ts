import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';

interface Pod {
  readonly name: string;
  readonly spec: Record<string, unknown> & { readonly containers: readonly Record<string, unknown>[] };
  readonly status: { readonly podIP: string; readonly hostIP: string };
}

let depot: {
  readonly pods: readonly Pod[];
  readonly deployment: Record<string, unknown>;
  readonly external: Record<string, unknown>;
  readonly route: Record<string, unknown>;
  readonly externals: readonly unknown[];
  readonly files: { readonly plain: Record<string, string>; readonly secret: Record<string, string> };
  readonly refusal: string;
  readonly missing: string;
  readonly nodes: readonly unknown[];
  readonly builds: readonly Record<string, string>[];
  readonly claims: readonly unknown[];
  readonly rights: readonly string[];
  readonly unserved: string;
  readonly unready: string;
  readonly role: unknown;
  readonly binding: Record<string, unknown>;
  readonly claim: Record<string, unknown>;
  readonly certificates: readonly Record<string, string>[];
};

beforeAll(async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [new URL('run-depot.ts', import.meta.url).pathname]);
  depot = JSON.parse(stdout);
}, 60_000);

const podOf = (component: string) => {
  const pod = depot.pods.find(({ name }) => name.startsWith(`depot-${component}-`));
  if (pod === undefined) throw new Error(`no pod of ${component}`);
  return pod;
};

test('a Deployment has the network of its node, and nothing else of it', () => {
  const { spec, status } = podOf('gate');
  expect(status.podIP).toBe(status.hostIP);
  expect(spec).toMatchObject({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' });
  expect(spec['securityContext']).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  expect(spec.containers).toMatchObject([
    {
      ports: [{ hostPort: 6900, protocol: 'UDP' }],
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    },
  ]);
  // The old pod has the port of the node.
  expect(depot.deployment).toMatchObject({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } });
});

test('a StatefulSet has the capabilities, the IPC and the paths of its node that it names', () => {
  const { spec } = podOf('volume');
  expect(spec).toMatchObject({ hostNetwork: true, hostIPC: true });
  expect(spec['hostPID']).toBeUndefined();
  expect(spec['volumes']).toContainEqual(
    expect.objectContaining({ hostPath: { path: '/run/lock/iscsi', type: 'DirectoryOrCreate' } }),
  );
  expect(spec.containers).toMatchObject([
    { securityContext: { runAsUser: 0, capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } } },
  ]);
});

test('a port is exposed by a load balancer, as its users say', () => {
  expect(depot.external).toMatchObject({
    metadata: { annotations: { 'lb.example.org/pool': 'edge' } },
    spec: { type: 'LoadBalancer', ports: [{ name: 'tftp', port: 69, targetPort: 'tftp', protocol: 'UDP' }] },
  });
});

test('a port of UDP is exposed by a UDPRoute at the listener of its port; the load balancer goes', () => {
  expect(depot.route).toMatchObject({
    apiVersion: 'gateway.networking.k8s.io/v1alpha2',
    spec: {
      parentRefs: [{ name: 'openstack-gateway', sectionName: 'tftp' }],
      rules: [{ backendRefs: [{ name: 'depot-gate', port: 6900 }] }],
    },
  });
  expect(depot.externals).toEqual([]);
});

test('users lay theirs over files of other formats; one with a secret is a Secret', () => {
  const { plain, secret } = depot.files;
  expect(parse(plain['polling.yaml'] ?? '')).toEqual({
    sources: [{ name: 'few', meters: ['cpu'] }],
    limits: { cpu: 1, memory: 3 },
  });
  const settings = Buffer.from(secret['local_settings.py'] ?? '', 'base64').toString();
  expect(settings).toMatch(
    /^DEBUG = True\nSECRET_KEY = "[A-Za-z0-9]{32}"\nSITE = \{"links": \["help"\], "name": "Depot"\}\n$/,
  );
  expect(plain['local_settings.py']).toBeUndefined();
  expect(depot.refusal).toBe(
    'spec.config["local_settings.py"].SECRET_KEY: the operator sets this itself: it is generated; remove it',
  );
});

test('a certificate is made anew before it ends, of the same private key, by the same authority', () => {
  const [before, after] = depot.certificates.map((data) =>
    Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()])),
  );
  const { 'tls.crt': first = '', ...kept } = before ?? {};
  const { 'tls.crt': second = '', ...others } = after ?? {};
  expect(others).toEqual(kept);
  const [old, renewed] = [new X509Certificate(first), new X509Certificate(second)];
  const minutes = (renewed.validFromDate.getTime() - old.validFromDate.getTime()) / 60_000;
  expect(minutes).toBeGreaterThanOrEqual(40);
  expect(minutes).toBeLessThan(42);
  expect(renewed.verify(new X509Certificate(kept['ca.crt'] ?? '').publicKey)).toBe(true);
});

test('pods on several nodes share a volume, and have those that users add', () => {
  expect(depot.claim).toMatchObject({ spec: { accessModes: ['ReadWriteMany'] }, status: { phase: 'Bound' } });
  const gates = depot.pods.filter(({ name }) => name.startsWith('depot-gate-'));
  expect(new Set(gates.map(({ status }) => status.hostIP)).size).toBe(2);
  for (const { spec } of gates)
    expect(spec.containers[0]?.['volumeMounts']).toEqual(
      expect.arrayContaining([
        { name: 'depot-shared', mountPath: '/var/lib/depot' },
        { name: 'extra-motd', mountPath: '/etc/motd', subPath: 'text' },
      ]),
    );
  expect(depot.missing).toMatch(/spec\.components\.gate\.extraVolumes\S*: ConfigMap motd does not exist; create it/);
});

test('a component has a token, and the rights that its service says; no other has one', () => {
  const path = '/var/run/secrets/kubernetes.io/serviceaccount';
  const token = expect.objectContaining({ mountPath: path, readOnly: true });
  expect(podOf('volume').spec['serviceAccountName']).toBe('depot-volume');
  expect(podOf('volume').spec.containers[0]?.['volumeMounts']).toContainEqual(token);
  expect(podOf('gate').spec).toMatchObject({ serviceAccountName: 'default', automountServiceAccountToken: false });
  expect(podOf('gate').spec.containers[0]?.['volumeMounts']).not.toContainEqual(token);
  expect(depot.role).toEqual([
    { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['depot-tls'] },
  ]);
  expect(depot.binding).toMatchObject({
    roleRef: { kind: 'Role', name: 'depot-volume' },
    subjects: [{ kind: 'ServiceAccount', name: 'depot-volume', namespace: 'openstack' }],
  });
});

test('an object of somebody else’s API is made once that is served, and awaited as the service says', () => {
  expect(depot.unserved).toBe('the cluster does not serve ceph.rook.io/v1 CephObjectStore; install Rook 1.15 or later');
  const kinds = ['serviceaccounts', 'roles', 'rolebindings', 'cephobjectstores'];
  expect(depot.rights).toEqual(
    expect.arrayContaining([...kinds.map((kind) => `${kind}: create delete get list patch watch`), 'secrets: get']),
  );
  expect(depot.unready).toBe('CephObjectStore depot-store: status.phase is not there yet, not Ready');
});

test('a node has several roles, and the agents of each', () => {
  const labels = { 'openstack.k8s.io/cloud': 'openstack.standalone', 'openstack.k8s.io/role-storage': 'default' };
  expect(depot.nodes).toEqual([
    { labels: { ...labels, 'openstack.k8s.io/role-backup': 'slow' }, agents: 1 },
    { labels, agents: 0 },
  ]);
});

test('below a control plane a role is claimed beside the node groups, as far as they are not apart', () => {
  const prefix = 'openstack.k8s.io';
  const labels = { [`${prefix}/cloud`]: 'openstack.my-cloud' };
  expect(depot.claims).toEqual([
    {
      labels: { ...labels, [`${prefix}/node-group`]: 'default', [`${prefix}/compute`]: 'true' },
      apartFrom: [`${prefix}/node-group`, `${prefix}/compute`, `${prefix}/role-storage`],
    },
    {
      labels: { ...labels, [`${prefix}/role-storage`]: 'default' },
      apartFrom: [`${prefix}/role-storage`, `${prefix}/compute`],
    },
  ]);
});

test('what a Job makes is a Secret that others mount; it is made again from what was there', () => {
  const [first = 0, second = 0] = depot.builds.map(
    (data) =>
      Buffer.from(data['object.ring'] ?? '', 'base64')
        .toString()
        .split('run\n').length - 1,
  );
  expect(first).toBeGreaterThan(0);
  // Every ten minutes, for half an hour.
  expect(second - first).toBeGreaterThan(2);
  expect(podOf('volume').spec['volumes']).toContainEqual(
    expect.objectContaining({ secret: { secretName: 'depot-rings', defaultMode: 0o440 } }),
  );
});
