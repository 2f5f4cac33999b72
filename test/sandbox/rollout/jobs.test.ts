import { Job, type Kind, Pod } from '@openstack-operator/kube';
import { Keystone, OpenStackControlPlane } from '@openstack-operator/openstack';
import { describe, expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly, readyCloud } from './cloud.ts';

const ControlPlane = OpenStackControlPlane as Kind;
const keystone = 'my-cloud-keystone';
const job = (cloud: Cloud, name: string) => cloud.get('Job', `${keystone}-${name}`);
const condition = (cloud: Cloud) => cloud.condition(Keystone, keystone, 'DatabaseReady');

/** A Keystone whose database is asked for at a wrong host, until its Job has failed. */
async function misdirected(): Promise<Cloud> {
  const cloud = await misdirecting();
  await cloud.until(() => condition(cloud)?.reason === 'JobFailed');
  await cloud.clock.advance(1000);
  return cloud;
}

async function misdirecting(): Promise<Cloud> {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...identityOnly, keystone: { enabled: false } })));
  await cloud.ready();
  const root = cloud.get('Secret', 'my-cloud-mariadb-root-password')?.['data'] as Record<string, string>;
  const data = { ...root, username: Buffer.from('root').toString('base64') };
  const metadata = { name: 'db-admin', namespace: 'openstack' };
  await cloud.settle(cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata, data }));
  await cloud.change(ControlPlane, 'my-cloud', {
    spec: { keystone: { enabled: true, databaseRef: at('nowhere.invalid') } },
  });
  return cloud;
}
const at = (host: string) => ({ external: { host, secretName: 'db-admin' } });

describe('a Job that fails', () => {
  test('says its last words, and is run again after longer and longer waits', async () => {
    const cloud = await misdirected();
    expect(condition(cloud)?.message).toMatch(/Job my-cloud-keystone-db-create failed: .*nowhere\.invalid/s);
    expect(cloud.get('Keystone', keystone)?.status).toMatchObject({ phase: 'Failed' });
    expect(cloud.get('OpenStackControlPlane', 'my-cloud')?.status).toMatchObject({ phase: 'Failed' });
    const starts: number[] = [];
    cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ type, object }) => {
      if (type === 'ADDED' && object.kind === 'Job') starts.push(cloud.clock.now());
    });
    await cloud.clock.advance(3_600_000);
    const waits = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
    expect(starts.length).toBeGreaterThan(2);
    expect(starts.length).toBeLessThan(8);
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
  });

  test('waits the longest where the count of its runs is no number', async () => {
    const cloud = await misdirected();
    const { name, uid } = job(cloud, 'db-create')?.metadata ?? { name: '' };
    await cloud.change(Job, name, { metadata: { annotations: { 'openstack.k8s.io/attempt': 'NaN' } } });
    await cloud.clock.advance(600_000);
    expect(job(cloud, 'db-create')?.metadata.uid).toBe(uid);
    await cloud.clock.advance(600_000);
    expect(job(cloud, 'db-create')?.metadata.uid).not.toBe(uid);
  });

  test('does not use up its attempts when its inputs change', async () => {
    const cloud = await misdirecting();
    const failures = () => (job(cloud, 'db-create')?.status as { failed?: number } | undefined)?.failed ?? 0;
    await cloud.until(() => failures() === 3);
    await cloud.change(ControlPlane, 'my-cloud', {
      spec: { keystone: { databaseRef: at('my-cloud-mariadb.openstack.svc') } },
    });
    await cloud.until(() => condition(cloud)?.status === 'True', 1);
    await cloud.ready();
  });

  test('is run again at once when its inputs change', async () => {
    const cloud = await misdirected();
    await cloud.change(ControlPlane, 'my-cloud', {
      spec: { keystone: { databaseRef: at('my-cloud-mariadb.openstack.svc') } },
    });
    await cloud.until(() => condition(cloud)?.status === 'True', 1);
    await cloud.ready();
  });
});

describe('a Job that has run', () => {
  test('is not run again when somebody deletes it', async () => {
    const { cloud } = await readyCloud({ spec: identityOnly });
    await cloud.remove(Job, `${keystone}-db-sync`);
    await cloud.clock.advance(600_000);
    expect(job(cloud, 'db-sync')).toBeUndefined();
    expect(cloud.isReady('Keystone', keystone)).toBe(true);
  });

  test('is run again after a change back and forth', async () => {
    const { cloud } = await readyCloud({ spec: identityOnly });
    const first = job(cloud, 'db-sync')?.metadata.uid;
    const images = (api: string | null) => ({ spec: { keystone: { images: { api } } } });
    await cloud.change(ControlPlane, 'my-cloud', images('quay.io/openstack.kolla/no-such-image:1'));
    await cloud.until(() => ![undefined, first].includes(job(cloud, 'db-sync')?.metadata.uid));
    await cloud.change(ControlPlane, 'my-cloud', images(null));
    await cloud.ready();
    expect(job(cloud, 'db-sync')?.status).toMatchObject({ succeeded: 1 });
  });
});

describe('a Job that runs', () => {
  /** Brings db-sync to where its container runs. */
  async function migrating() {
    const cloud = await createCloud();
    await cloud.startOperator();
    await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
    await cloud.until(() => containers(cloud).some(({ state }) => state.running !== undefined));
    return cloud;
  }
  const pods = (cloud: Cloud) => cloud.list('Pod').filter(({ metadata }) => metadata.name.includes('db-sync'));
  const containers = (cloud: Cloud) =>
    pods(cloud).flatMap(
      ({ status }) => (status as { containerStatuses?: { state: { running?: object } }[] }).containerStatuses ?? [],
    );

  test('is never killed: new inputs wait for its end', async () => {
    const cloud = await migrating();
    const uid = job(cloud, 'db-sync')?.metadata.uid;
    let killed = false;
    cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ type, object }) => {
      const { succeeded } = (object.status ?? {}) as { succeeded?: number };
      if (type === 'DELETED' && object.metadata.uid === uid && succeeded !== 1) killed = true;
    });
    const images = { api: 'registry.example.org/openstack.kolla/keystone:2025.1-debian-bookworm' };
    await cloud.change(ControlPlane, 'my-cloud', { spec: { keystone: { images } } });
    await cloud.ready();
    expect(killed).toBe(false);
    expect(job(cloud, 'db-sync')?.metadata.uid).not.toBe(uid);
  });

  test('is not killed while its kubelet has not reported its container: absence proves nothing', async () => {
    const cloud = await migrating();
    const { uid } = job(cloud, 'db-sync')?.metadata ?? {};
    const [pod] = pods(cloud);
    const ref = { namespace: 'openstack', name: pod?.metadata.name ?? '' };
    const patch = { status: { containerStatuses: null, initContainerStatuses: null } };
    await cloud.settle(cloud.rehearsal.sandbox.client().patch(Pod, ref, 'merge', patch, { subresource: 'status' }));
    let ended = false;
    cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ type, object }) => {
      const { succeeded } = (object.status ?? {}) as { succeeded?: number };
      ended ||= object.metadata.uid === uid && succeeded === 1;
      if (type === 'DELETED' && object.metadata.uid === uid) expect(ended, 'killed').toBe(true);
    });
    const images = { api: 'registry.example.org/openstack.kolla/keystone:2025.1-debian-bookworm' };
    await cloud.change(ControlPlane, 'my-cloud', { spec: { keystone: { images } } });
    await cloud.ready();
    expect(ended).toBe(true);
    expect(job(cloud, 'db-sync')?.metadata.uid).not.toBe(uid);
  });

  test('deleted by hand, is run again when its pod has ended, not beside it', async () => {
    const cloud = await migrating();
    let most = 0;
    cloud.rehearsal.sandbox.api.store.subscribe(undefined, () => {
      most = Math.max(most, containers(cloud).filter(({ state }) => state.running !== undefined).length);
    });
    await cloud.settle(
      cloud.rehearsal.sandbox.client().delete(Job, { namespace: 'openstack', name: `${keystone}-db-sync` }),
    );
    await cloud.ready();
    expect(most).toBe(1);
    expect(job(cloud, 'db-sync')?.status).toMatchObject({ succeeded: 1 });
  });

  test('goes on after its pod was killed in the middle', async () => {
    const cloud = await migrating();
    await cloud.remove(Pod, pods(cloud)[0]?.metadata.name ?? '');
    await cloud.ready();
    expect(job(cloud, 'db-sync')?.status).toMatchObject({ succeeded: 1 });
  });
});
