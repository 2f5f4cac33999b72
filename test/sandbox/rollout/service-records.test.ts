import { Job, type Kind, Namespace, Pod, type StoredObject } from '@openstack-operator/kube';
import { Keystone, OpenStackControlPlane, Placement } from '@openstack-operator/openstack';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly } from './cloud.ts';
import { entitiesOf } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

/** What a service has in the Keystone of its own cloud, when it goes and that stays. */

const namespace = 'openstack';
const name = 'my-cloud-placement';
const ControlPlane = OpenStackControlPlane as Kind;
let cloud: Cloud;
/** Events that were there when the test began. */
let before: ReadonlySet<string>;
/** How often the Job that takes its records back was asked for. */
let deregistrations: number;

const uid = () => cloud.get('Placement', name)?.metadata.uid;
const user = async () => (await entitiesOf(cloud, 'users')).find((one) => one['name'] === 'placement');
const endpoints = async () =>
  (await entitiesOf(cloud, 'endpoints')).filter((one) => String(one['url']).includes(name)).length;
const services = async () => (await entitiesOf(cloud, 'services')).map((one) => one['name']);
const versionOf = ({ metadata }: StoredObject) => `${metadata.uid} ${metadata.resourceVersion}`;
/** What has been told since the test began. */
const events = (reason: string) =>
  cloud
    .list('Event')
    .filter((event) => !before.has(versionOf(event)))
    .map((event) => event as unknown as { reason?: string; message?: string })
    .filter((event) => event.reason === reason)
    .map(({ message = '' }) => message);

async function deleteByHand(): Promise<void> {
  const first = uid();
  await cloud.settle(cloud.rehearsal.sandbox.client().delete(Placement, { namespace, name }));
  await cloud.until(() => ![undefined, first].includes(uid()), 20);
}

const setEnabled = (enabled: boolean) => cloud.change(ControlPlane, 'my-cloud', { spec: { placement: { enabled } } });

async function switchOffAndOn(): Promise<void> {
  await setEnabled(false);
  await cloud.until(() => uid() === undefined, 5);
  await setEnabled(true);
  await cloud.until(() => uid() !== undefined, 5);
}

async function expectRegistered(): Promise<void> {
  expect(await user()).toMatchObject({ enabled: true });
  expect(await endpoints()).toBe(3);
}

/** A cloud with a Placement whose password outlives it: the records Job of its successor has the same inputs. */
async function bringUp() {
  const made = await createCloud();
  (await made.startOperator()).onWrite(({ method, body }) => {
    if (method === 'POST' && String(body).includes(`"${name}-deregister"`)) deregistrations++;
  });
  const password = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'brought', namespace } };
  await made.settle(made.rehearsal.create({ ...password, stringData: { password: 'of-placement' } }));
  const placement = { enabled: true, identity: { secretName: 'brought' } };
  await made.settle(made.rehearsal.create(controlPlane({ ...identityOnly, placement })));
  await made.ready();
  return { cloud: made };
}
const shared = sharedCloud(bringUp);

function begin(begun: { cloud: Cloud }): void {
  ({ cloud } = begun);
  before = new Set(cloud.list('Event').map(versionOf));
  deregistrations = 0;
}

describe('a service below a control plane', () => {
  beforeEach(async () => begin(await shared()));

  test('disabled: its endpoints go, its user is disabled and enabled again', async () => {
    const { id } = (await user()) ?? {};
    await setEnabled(false);
    await cloud.until(() => uid() === undefined, 5);
    expect(await user()).toMatchObject({ id, enabled: false });
    expect(await endpoints()).toBe(0);
    expect(await services()).toEqual(['keystone']);
    expect(deregistrations).toBe(1);
    expect(events('Deregistered')).toEqual([
      'taken back: user placement and endpoints of placement in region RegionOne of Keystone',
    ]);
    await setEnabled(true);
    await cloud.ready();
    await expectRegistered();
    expect(await user()).toMatchObject({ id });
  });

  test.each([0, 2, 10])('deleted by hand, and its successor %i s later, stays in the catalogue', async (seconds) => {
    for (const wait of [0, seconds]) {
      await cloud.clock.advance(wait * 1000);
      await deleteByHand();
      await expectRegistered();
    }
    expect(deregistrations, 'its control plane makes it anew').toBe(0);
    await cloud.ready(10);
    await expectRegistered();
    expect(events('DeregistrationFailed')).toEqual([]);
  });

  test('made anew while the Job endpoint-create of its predecessor is still there is registered again', async () => {
    const hold = (finalizers: string[] | null) =>
      cloud.change(Job, `${name}-endpoint-create`, { metadata: { finalizers } });
    await hold(['example.com/hold']);
    await switchOffAndOn();
    await cloud.clock.advance(60_000);
    await hold(null);
    await cloud.ready(10);
    await expectRegistered();
  });

  test('disabled while a Job deregister of another one is there awaits its own', async () => {
    const owner = cloud.get('ConfigMap', 'kube-root-ca.crt');
    const live = cloud.get('Job', `${name}-endpoint-create`);
    const metadata = { name: `${name}-deregister`, namespace, labels: { ...live?.metadata.labels } };
    const { name: ownerName = '', uid: ownerUid = '' } = owner?.metadata ?? {};
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: ownerName, uid: ownerUid, controller: true };
    const { template } = (live?.['spec'] ?? {}) as { template?: object };
    const job = { apiVersion: 'batch/v1', kind: 'Job', spec: { template } };
    await cloud.settle(cloud.rehearsal.create({ ...job, metadata: { ...metadata, ownerReferences: [reference] } }));
    await cloud.until(() => cloud.condition(Job, metadata.name, 'Complete')?.status === 'True');
    const first = uid();
    await setEnabled(false);
    await cloud.clock.advance(60_000);
    expect(uid()).toBe(first);
    await cloud.remove(Job, metadata.name);
    await cloud.until(() => uid() === undefined, 5);
    expect(deregistrations).toBe(1);
  });

  test('made anew while records are still being taken back is registered afterwards', async () => {
    const labels = cloud.get('Job', `${name}-endpoint-create`)?.metadata.labels;
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'late', namespace, labels: { ...labels, 'app.kubernetes.io/component': 'deregister' } },
      spec: { nodeSelector: { no: 'such-node' }, containers: [{ name: 'late', image: 'example.com/late:1' }] },
    };
    await cloud.settle(cloud.rehearsal.create(pod));
    await deleteByHand();
    await cloud.clock.advance(60_000);
    expect(cloud.get('Job', `${name}-endpoint-create`)).toBeUndefined();
    await cloud.remove(Pod, 'late');
    await cloud.ready(10);
    await expectRegistered();
  });
});

describe('a service whose control plane, or Keystone, does not stay', () => {
  beforeEach(async () => begin(await bringUp()));

  test('deleted with its control plane goes at once, and without a Job', async () => {
    await cloud.remove(ControlPlane, 'my-cloud');
    await cloud.until(() => uid() === undefined, 0.1);
    expect(deregistrations).toBe(0);
    expect(events('DeregistrationFailed')).toEqual([]);
  });

  test('deleted in the foreground with its control plane goes without a Job', async () => {
    const foreground = { propagationPolicy: 'Foreground' } as const;
    const client = cloud.rehearsal.sandbox.client();
    await cloud.settle(client.delete(ControlPlane, { namespace, name: 'my-cloud' }, foreground));
    await cloud.until(() => cloud.get('OpenStackControlPlane', 'my-cloud') === undefined, 5);
    expect(deregistrations).toBe(0);
  });

  test('deleted with its namespace goes without a Job', async () => {
    await cloud.settle(cloud.rehearsal.sandbox.client().delete(Namespace, { name: namespace }));
    await cloud.until(() => cloud.get('Namespace', namespace, '') === undefined, 5);
    expect(cloud.list('Placement')).toEqual([]);
    expect(deregistrations).toBe(0);
  });

  test('whose Keystone is not Ready goes at once, and an event lists what is left behind', async () => {
    await cloud.change(ControlPlane, 'my-cloud', { spec: { keystone: { images: { api: 'example.com/none:1' } } } });
    await cloud.until(() => cloud.condition(Keystone, 'my-cloud-keystone')?.status === 'False');
    await setEnabled(false);
    await cloud.until(() => uid() === undefined, 0.5);
    expect(deregistrations).toBe(0);
    expect(events('DeregistrationFailed')).toEqual([
      'not all can be taken back. Left behind, to be removed by hand: user placement and endpoints of placement ' +
        'in region RegionOne of Keystone (Keystone my-cloud-keystone is not Ready)',
    ]);
  });
});

test('a user that another resource logs in as stays enabled', async () => {
  begin(await shared());
  const spec = cloud.get('Placement', name)?.['spec'];
  const other = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Placement', metadata: { name: 'other', namespace } };
  // The password comes from the same Secret.
  const database = { names: { placement: 'other' }, user: 'other' };
  await cloud.settle(cloud.rehearsal.create({ ...other, spec: { ...(spec as object), database } }));
  await cloud.until(() => cloud.isReady('Placement', 'other'));
  await cloud.remove(Placement, 'other');
  await cloud.until(() => cloud.get('Placement', 'other') === undefined, 5);
  expect(await user()).toMatchObject({ enabled: true });
  expect(events('DeregistrationFailed').join()).toContain(`Placement ${name} has user placement in Keystone as well`);
});
