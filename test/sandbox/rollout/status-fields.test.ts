import { children, kinds } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { blockStorage, cephStorage, controlPlane, createCloud, fileStorage } from './cloud.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** Paths of the fields that a schema declares, such as `nodes[].phase`. */
function declared({ properties, items }: Schema, at: string): string[] {
  if (items?.properties !== undefined) return declared(items, `${at}[]`);
  if (properties === undefined) return [at];
  return Object.entries(properties).flatMap(([name, schema]) => declared(schema, at === '' ? name : `${at}.${name}`));
}

function isWritten(value: unknown, path: readonly string[]): boolean {
  const [name, ...rest] = path;
  if (name === undefined) return value !== undefined;
  if (name.endsWith('[]')) {
    const list = (value as Record<string, readonly unknown[] | undefined> | undefined)?.[name.slice(0, -2)] ?? [];
    return list.some((item) => isWritten(item, rest));
  }
  return isWritten((value as Record<string, unknown> | undefined)?.[name], rest);
}

/** Fields that only some resources of a kind have something for; those of what lies in Ceph: ceph-storage.test.ts. */
const ofSome = ['jobs', 'volumes', 'schedules', 'found', 'lasting', 'references', 'peers'];
/** Those that are only there during an upgrade (test/sandbox/made-up-release). */
const ofUpgrades = ['release.phase'];
/** Those of a cloud that comes to TLS, and of agents that are replaced meanwhile (control-plane-tls.test.ts, authority-rotation.test.ts). */
const ofTls = ['tls', 'tlsGeneration', 'agentsLeaving', 'authorities'];
/** Those that answer an annotation (restore.test.ts, rotation.test.ts, maintenance.test.ts). */
const ofRequests = ['lastHandledReconcileAt', 'rotated', 'nodes[].maintenance.phase', 'nodes[].maintenance.message'];
/** What a Ceph says that is in the cluster (ceph-setup.test.ts). */
const ofCeph = /^(health\.message|(capacity|pools\[\]|fileSystems\[\])\..*)$/;
/** Those of hosts that cannot change their zone (availability-zones.test.ts). */
const ofZones = ['refusedMembers'];
/** Those of a cloud with hundreds of nodes (large-cloud.test.ts). */
const ofLargeClouds = ['furtherNodes'];

test('every field of a status that is declared is written', async () => {
  const optional = Object.fromEntries(children.flatMap((child) => (child.optional ? [[child.field, {}]] : [])));
  const cloud = await createCloud({ capacity: { cpu: '8', memory: '64Gi' } });
  await cloud.startOperator();
  const metadata = { name: cephStorage.external.keyringSecretName, namespace: 'openstack' };
  const stringData = { 'ceph.client.cinder.keyring': Buffer.alloc(28, 1).toString('base64') };
  await cloud.settle(cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata, stringData }));
  const pools = [{ name: 'volumes', purpose: 'cinder-volumes' }];
  const storage = { cinder: blockStorage, manila: fileStorage, cephStorage: { ...cephStorage, pools } };
  const agents = { cyborg: { enabledDrivers: ['fake_driver'] } };
  const quorums = { mariadb: { replicas: 3 }, rabbitmq: { replicas: 3 } };
  const logs = { venus: { elasticsearchURL: 'http://opensearch.logging.svc:9200' } };
  const spec = {
    ...optional,
    imageRegistry: 'registry.example.com/openstack',
    ...quorums,
    ...storage,
    ...agents,
    ...logs,
  };
  await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  await cloud.clock.advance(10_000);
  const objects = cloud.rehearsal.objects();
  // What is of no control plane: dataplane.test.ts.
  const ofCloud = kinds.filter(({ kind }) => objects.some((one) => one.kind === kind));
  expect(kinds.length - ofCloud.length).toBe(1);
  const unwritten = ofCloud.flatMap(({ kind, status }) =>
    declared((status as { schema: Schema }).schema, '')
      .filter(
        (path) => ![...ofSome, ...ofUpgrades, ...ofTls, ...ofRequests, ...ofZones, ...ofLargeClouds].includes(path),
      )
      .filter((path) => kind !== 'CephStorage' || !ofCeph.test(path))
      .filter((path) => !objects.some((one) => one.kind === kind && isWritten(one['status'], path.split('.'))))
      .map((path) => `${kind}.status.${path}`),
  );
  expect(unwritten).toEqual([]);
  for (const path of ofSome) expect(objects.some((one) => isWritten(one['status'], [path]))).toBe(true);
}, 300_000);
