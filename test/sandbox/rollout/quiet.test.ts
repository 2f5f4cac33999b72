import type { HttpRequest } from '@openstack-operator/kube';
import { Keystone, OpenStackControlPlane } from '@openstack-operator/openstack';
import { describe, expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly } from './cloud.ts';

const keystone = 'my-cloud-keystone';
const metadata = (name: string) => ({ name, namespace: 'openstack' });
const secret = (name: string, data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: metadata(name),
  stringData: data,
});

/** What is broken, what its condition says, and how to get there. */
const broken: readonly [string, Record<string, unknown>, string, ((cloud: Cloud) => Promise<unknown>)?][] = [
  ['a missing Secret', { keystone: { adminPasswordSecretName: 'mine' } }, 'SecretMissing'],
  [
    'a Job that fails',
    { keystone: { databaseRef: at('nowhere.invalid') } },
    'JobFailed',
    (cloud) => cloud.rehearsal.create(secret('db-admin', { username: 'root', password: 'secret123' })),
  ],
  [
    'a foreign object',
    {},
    'ForeignObject',
    (cloud) =>
      cloud.rehearsal.create({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: metadata(`${keystone}-api`),
        spec: { ports: [{ port: 80 }] },
      }),
  ],
  ['a pod that fits no node', { keystone: { components: { api: { nodeSelector: { no: 'where' } } } } }, 'NotAvailable'],
  ['an image that does not exist', { keystone: { images: { api: 'quay.io/x/y:1' } } }, 'JobRunning'],
  ['an API that cannot answer', { keystone: { config: { api: { DEFAULT: { log_dir: '/nowhere' } } } } }, 'JobRunning'],
];
function at(host: string) {
  return { external: { host, secretName: 'db-admin' } };
}

describe('while something is broken', () => {
  test.each(broken)(
    '%s: a few writes a minute, and the reads of an idle operator',
    async (_title, spec, reason, prepare) => {
      const requests: HttpRequest[] = [];
      const cloud = await createCloud({
        wire: (transport) => ({
          ...transport,
          request: (request, signal) => {
            requests.push(request);
            return transport.request(request, signal);
          },
        }),
      });
      await cloud.startOperator();
      await cloud.settle(prepare?.(cloud) ?? Promise.resolve());
      await cloud.settle(cloud.rehearsal.create(controlPlane({ ...identityOnly, ...spec })));
      await cloud.until(() => cloud.condition(Keystone, keystone)?.reason === reason);
      await cloud.clock.advance(120_000);
      requests.length = 0;
      await cloud.clock.advance(600_000);
      const watches = requests.filter(({ path }) => path.includes('watch='));
      const writes = requests.filter(({ method }) => method !== 'GET');
      expect(writes.length, writes.map(({ method, path }) => `${method} ${path}`).join('\n')).toBeLessThanOrEqual(40);
      // Two watches of five to ten minutes of each kind; one look a minute for what is not followed.
      expect(requests.length - watches.length - writes.length).toBeLessThanOrEqual(60);
    },
  );

  test('paused: nothing at all', async () => {
    const cloud = await createCloud();
    const operator = await cloud.startOperator();
    const paused = { 'openstack.k8s.io/paused': 'true' };
    const object = controlPlane(identityOnly);
    await cloud.settle(cloud.rehearsal.create({ ...object, metadata: { ...object.metadata, annotations: paused } }));
    await cloud.until(() => cloud.condition(OpenStackControlPlane, 'my-cloud')?.reason === 'Paused');
    await cloud.clock.advance(1000);
    const writes: string[] = [];
    operator.onWrite(({ method, path }) => writes.push(`${method} ${path}`));
    await cloud.clock.advance(600_000);
    expect(writes).toEqual([]);
  });
});
