import { Job, Pod } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import type { Image, Process } from '@openstack-operator/sandbox';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud, withResources } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const spec = { ...identityOnly, rabbitmq: {}, designate: {} };
const url = 'http://my-cloud-designate-api.openstack.svc:9001/v2/zones';
const member = (index: number) => `my-cloud-designate-bind-${index}.openstack.svc`;
const bindPod = 'my-cloud-designate-bind-0';
const address = { type: 'A', records: ['192.0.2.7'] };

/** A resolver outside of the cloud: `dig SERVER PORT NAME` prints the records of a zone. */
const resolver: Image = {
  matches: (reference) => reference === 'resolver',
  programs: {
    dig: async (process) => {
      const [, server = '', port = '', name = ''] = process.argv;
      process.stdout(JSON.stringify(await answer(process, server, Number(port), name)));
      return 0;
    },
  },
};

async function answer({ network }: Process, server: string, port: number, name: string): Promise<unknown> {
  try {
    const connection = await network.connect(server, port, 'dns');
    return ((await connection.call({ ask: 'query', name })) as { value?: { records: string[] } }).value?.records ?? [];
  } catch (error) {
    return (error as { code: string }).code;
  }
}

let asked = 0;

/** What a resolver that is no pod of OpenStack is told. */
async function dig(cloud: Cloud, ...words: readonly [server: string, port: string, name: string]): Promise<unknown> {
  const metadata = { name: `dig-${(asked += 1)}`, namespace: 'openstack' };
  const containers = [{ name: 'dig', image: 'resolver', command: ['dig', ...words] }];
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { restartPolicy: 'Never', containers },
  };
  await cloud.settle(cloud.rehearsal.sandbox.client().create(Pod, pod));
  const phase = () => (cloud.get('Pod', metadata.name)?.['status'] as { phase?: string } | undefined)?.phase;
  await cloud.until(() => phase() === 'Succeeded');
  return JSON.parse(cloud.rehearsal.sandbox.pods.logs(metadata)) as unknown;
}

interface Zone {
  readonly id: string;
  readonly status: string;
}

const zonesOf = async (cloud: Cloud): Promise<Zone[]> =>
  (JSON.parse(await ask(cloud, await login(cloud), url)) as { zones: Zone[] }).zones;

/** A zone with a record, published. */
async function published(cloud: Cloud, name: string): Promise<void> {
  const token = await login(cloud);
  const made = await request(cloud, token, 'POST', url, { name, email: 'hostmaster@example.com' });
  const { id } = JSON.parse(made) as Zone;
  await request(cloud, token, 'POST', `${url}/${id}/recordsets`, { name: `www.${name}`, ...address });
  await cloud.clock.advance(60_000);
  expect(await zonesOf(cloud)).toContainEqual(expect.objectContaining({ id, status: 'ACTIVE' }));
}

const shared = sharedCloud(() => readyCloud({ spec, images: [resolver] }));

/** The cloud that is shared, without zones. */
async function emptied(): Promise<Cloud> {
  const { cloud } = await shared();
  const token = await login(cloud);
  for (const { id } of await zonesOf(cloud)) await request(cloud, token, 'DELETE', `${url}/${id}`);
  await cloud.clock.advance(60_000);
  expect(await zonesOf(cloud)).toEqual([]);
  return cloud;
}

test('below a control plane that states it, it is Ready, and BIND answers for a zone to anybody; nobody else reaches its control channel', async () => {
  const cloud = await emptied();
  expect(cloud.isReady('Designate', 'my-cloud-designate')).toBe(true);
  expect(await entitiesOf(cloud, 'services')).toContainEqual(
    expect.objectContaining({ name: 'designate', type: 'dns' }),
  );
  await published(cloud, 'example.com.');
  expect(await dig(cloud, 'my-cloud-designate-bind.openstack.svc', '53', 'example.com.')).toEqual([
    'www.example.com. A 192.0.2.7',
  ]);
  expect(await dig(cloud, member(0), '953', 'example.com.')).toBe('ETIMEDOUT');
  expect(await dig(cloud, 'my-cloud-designate-mdns.openstack.svc', '5354', 'example.com.')).toBe('ETIMEDOUT');
  const [zone] = await zonesOf(cloud);
  await request(cloud, await login(cloud), 'DELETE', `${url}/${zone?.id}`);
  await cloud.clock.advance(60_000);
  expect(await zonesOf(cloud)).toEqual([]);
  expect(await dig(cloud, member(0), '53', 'example.com.')).toEqual([]);
});

test('zones are there again after a pod of BIND was lost, and after it was switched off and on', async () => {
  const cloud = await emptied();
  await published(cloud, 'example.com.');
  const answers = () => dig(cloud, member(0), '53', 'example.com.');
  await cloud.remove(Pod, bindPod);
  await cloud.ready();
  expect(await answers()).toEqual(['www.example.com. A 192.0.2.7']);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { ...withResources, spec: { designate: { enabled: false } } });
  await cloud.until(() => cloud.get('Designate', 'my-cloud-designate') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { designate: { enabled: null } } });
  await cloud.ready();
  expect(await answers()).toEqual(['www.example.com. A 192.0.2.7']);
  await published(cloud, 'example.org.');
});

test('a zone is in ERROR while no BIND runs, and ACTIVE by itself when one is back', async () => {
  const cloud = await emptied();
  const runsOn = (nodeSelector: object | null) =>
    cloud.change(OpenStackControlPlane, 'my-cloud', {
      spec: { designate: { components: { bind: { nodeSelector } } } },
    });
  await runsOn({ nowhere: 'yes' });
  await cloud.until(() => cloud.get('Pod', bindPod)?.['status'] !== undefined && !cloud.isReady('Pod', bindPod));
  await request(cloud, await login(cloud), 'POST', url, { name: 'example.com.', email: 'hostmaster@example.com' });
  await cloud.clock.advance(200_000);
  expect(await zonesOf(cloud)).toEqual([expect.objectContaining({ status: 'ERROR' })]);
  expect(cloud.isReady('Designate', 'my-cloud-designate')).toBe(false);
  await runsOn(null);
  await cloud.ready();
  await cloud.clock.advance(200_000);
  expect(await zonesOf(cloud)).toEqual([expect.objectContaining({ status: 'ACTIVE' })]);
});

// The last one: it has a second BIND then.
test('a second BIND is told of the zones that there are, and one that has lost its volume when pools are updated anew', async () => {
  const cloud = await emptied();
  await published(cloud, 'example.com.');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { designate: { bindReplicas: 2 } } });
  await cloud.ready();
  await cloud.clock.advance(60_000);
  expect(await dig(cloud, member(1), '53', 'example.com.')).toEqual(['www.example.com. A 192.0.2.7']);
  expect(await zonesOf(cloud)).toEqual([expect.objectContaining({ status: 'ACTIVE' })]);
  await cloud.remove(Job, 'my-cloud-designate-zones');
  await cloud.ready();
  expect(cloud.get('StatefulSet', 'my-cloud-designate-bind')?.['spec']).toMatchObject({ replicas: 2 });
});
