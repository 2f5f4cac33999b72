import type { KubeObject } from '@openstack-operator/kube';
import type { Cloud } from './cloud.ts';

/** Id of the cluster. */
export const fsid = '11111111-2222-3333-4444-555555555555';
/** Host of its monitor. */
export const monitor = 'monitor.ceph.svc';
/** A key. */
export const keyOf = (letter: string) => Buffer.alloc(28, letter).toString('base64');
const rights = '\tcaps mds = "allow *"\n\tcaps mgr = "allow *"\n\tcaps mon = "allow *"\n\tcaps osd = "allow *"\n';
/** The keyring of the administrator. */
export const keyring = (key: string) => `[client.admin]\n\tkey = ${key}\n${rights}`;
/** A Secret. */
export const secret = (name: string, stringData: Record<string, string>, namespace = 'openstack'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  stringData,
});

/** A Ceph in the cluster, with nobody but its administrator. */
export async function bringCeph(cloud: Cloud): Promise<void> {
  const files = { 'ceph.conf': `[global]\nmon_host = ${monitor}\n`, 'ceph.client.admin.keyring': keyring(keyOf('a')) };
  const script = `ceph-mon --mkfs -i a --fsid ${fsid} --keyring /etc/ceph/ceph.client.admin.keyring && exec ceph-mon -f -i a`;
  const metadata = { name: 'monitor', namespace: 'ceph', labels: { app: 'monitor' } };
  const containers = [
    {
      name: 'mon',
      image: 'ceph:18',
      command: ['sh', '-ec', script],
      volumeMounts: [{ name: 'ceph', mountPath: '/etc/ceph' }],
    },
  ];
  const volumes = [{ name: 'ceph', secret: { secretName: 'ceph' } }];
  const service = { selector: metadata.labels, ports: [{ port: 6789 }] };
  await cloud.settle(cloud.rehearsal.create(secret('ceph', files, 'ceph')));
  await cloud.until(() => cloud.get('ServiceAccount', 'default', 'ceph') !== undefined);
  for (const object of [
    { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, volumes } },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: service },
  ])
    await cloud.settle(cloud.rehearsal.create(object));
}

/** What a program prints beside the monitor. */
export async function beside(cloud: Cloud, ...command: readonly string[]): Promise<string> {
  const pod = { namespace: 'ceph', name: 'monitor' };
  const { stdout, stderr } = await cloud.settle(cloud.rehearsal.sandbox.pods.exec(pod, command));
  return stdout + stderr;
}

/** What a command of the administrator prints. */
export const commandOf = (cloud: Cloud, ...argv: readonly string[]): Promise<string> => beside(cloud, 'ceph', ...argv);
