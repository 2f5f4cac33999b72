import { createHash } from 'node:crypto';
import type { Monitors, Shape } from './configuration.ts';
import type { Identity } from './keys.ts';
import { configurationName, keyringsName, labels, metadata, monitorService, scriptsName } from './names.ts';

/** The user ceph of Debian's packages. */
const uid = 64_045;

/** What the pods are made of. */
export interface Cluster {
  readonly identity: Identity;
  readonly monitors: Monitors;
  readonly shape: Shape;
  readonly image: string;
  /** What the pods mount: they start anew when it changes. */
  readonly mounted: unknown;
}

interface Container {
  readonly name: string;
  readonly command: readonly string[];
  /** MiB that it has used at rest. */
  readonly memory: number;
  /** Where it listens when it is ready; the health of Ceph tells of the others. */
  readonly port?: number;
}

const publicAddress = ['--public-addr', '$(POD_IP)'];

/**
 * Monitor a with all other daemons, and each further monitor by itself. StatefulSets: a pod begins when the one before has
 * left the data.
 */
export function statefulSets(cluster: Cluster): object[] {
  const [first = '', ...others] = Object.keys(cluster.monitors);
  return [whole(cluster, first), ...others.map((name) => monitorAlone(cluster, name))];
}

/** The monitor is an init container that stays: the others begin when it answers and knows what it has to. */
function whole(cluster: Cluster, name: string): object {
  const { identity, shape, image } = cluster;
  const setup = { name: 'setup', command: ['/scripts/setup', '/scripts/commands.json'], memory: 64 };
  const daemons: Container[] = [
    { name: 'mgr', command: ['ceph-mgr', '-i', 'a', '-f', ...publicAddress], memory: 384 },
    { name: 'osd', command: ['/scripts/osd', identity.osd], memory: 128 },
    ...(shape.mds ? [{ name: 'mds', command: ['ceph-mds', '-i', 'a', '-f', ...publicAddress], memory: 64 }] : []),
    ...(shape.rgw ? [{ name: 'rgw', command: ['radosgw', '-n', 'client.rgw.a', '-f'], memory: 160, port: 7480 }] : []),
  ];
  return statefulSet(cluster, 'ceph', name, {
    initContainers: [{ ...monitor(cluster, name), restartPolicy: 'Always' }, container(setup, image)],
    containers: daemons.map((daemon) => container(daemon, image)),
  });
}

function monitorAlone(cluster: Cluster, name: string): object {
  return statefulSet(cluster, monitorService(name), name, { containers: [monitor(cluster, name)] });
}

function monitor({ identity, monitors, image }: Cluster, name: string): object {
  const all = Object.entries(monitors).map(([monitor, address]) => `${monitor}=${address}`);
  const command = ['/scripts/monitor', identity.fsid, name, ...all];
  return {
    ...container({ name: 'mon', command, memory: 64 }, image),
    startupProbe: { tcpSocket: { port: 3300 }, periodSeconds: 1, failureThreshold: 120 },
  };
}

function container({ name, command, memory, port }: Container, image: string): object {
  return {
    name,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['dumb-init', '--single-child', '--', ...command],
    env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
    ...(port !== undefined && { readinessProbe: { tcpSocket: { port }, periodSeconds: 1 } }),
    resources: { requests: { memory: `${memory}Mi` } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'configuration', mountPath: '/etc/ceph' },
      { name: 'scripts', mountPath: '/scripts' },
      { name: 'data', mountPath: '/var/lib/ceph' },
      { name: 'run', mountPath: '/run/ceph' },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
}

function statefulSet(cluster: Cluster, name: string, monitor: string, containers: object): object {
  const selected = { ...labels, 'tools-ceph/monitor': monitor };
  const sources = [{ configMap: { name: configurationName } }, { secret: { name: keyringsName } }];
  const data =
    cluster.shape.store === 'bluestore'
      ? { persistentVolumeClaim: { claimName: dataName(monitor) } }
      : { emptyDir: {} };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { ...metadata(name), labels: selected },
    spec: {
      replicas: 1,
      podManagementPolicy: 'Parallel', // of one pod: an update replaces one that never got ready, too
      serviceName: monitorService(monitor),
      selector: { matchLabels: selected },
      template: {
        metadata: { labels: selected, annotations: { 'tools-ceph/mounted': hashOf(cluster.mounted) } },
        spec: {
          ...containers,
          automountServiceAccountToken: false,
          // The OSD needs a second. With MDS and gateway the pod did not end by itself within 30.
          terminationGracePeriodSeconds: 10,
          enableServiceLinks: false,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: uid,
            runAsGroup: uid,
            fsGroup: uid,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          volumes: [
            { name: 'configuration', projected: { defaultMode: 0o440, sources } },
            { name: 'scripts', configMap: { name: scriptsName, defaultMode: 0o555 } },
            { name: 'data', ...data },
            { name: 'run', emptyDir: { medium: 'Memory' } },
            { name: 'tmp', emptyDir: {} },
          ],
        },
      },
    },
  };
}

/** Claims of the monitors' pods where data outlive them. */
export function claims({ monitors, shape }: Pick<Cluster, 'monitors' | 'shape'>): object[] {
  if (shape.store === 'memstore') return [];
  return Object.keys(monitors).map((monitor) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: metadata(dataName(monitor)),
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '20Gi' } } },
  }));
}

const dataName = (monitor: string) => `ceph-data-${monitor}`;

const hashOf = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
