import { type Condition, Deployment, type Kind, type KubeObject } from '@openstack-operator/kube';
import { eventReasons, Keystone, OpenStackControlPlane, reasons } from '@openstack-operator/openstack';
import { describe, expect, test } from 'vitest';
import { asOperator, type Cloud, controlPlane, createCloud, identityOnly, readyCloud } from './cloud.ts';

const ControlPlane = OpenStackControlPlane as Kind;
const keystone = 'my-cloud-keystone';

/** Statuses of resources of ours as they were written, in order. */
function follow(cloud: Cloud): KubeObject[] {
  const seen: KubeObject[] = [];
  cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ object }) => {
    if (object.apiVersion.startsWith('openstack') && object.status !== undefined) seen.push(structuredClone(object));
  });
  return seen;
}
const isOurs = (object: KubeObject) =>
  object.kind === 'Event' && (object['reportingComponent'] ?? object['reportingController']) === 'openstack-operator';
const conditionsOf = (object: KubeObject) => (object['status'] as { conditions: Condition[] }).conditions;

describe('a rollout', () => {
  test('has conditions of known reasons, a Ready that is last and false until all is done, and few events', async () => {
    const cloud = await createCloud();
    await cloud.startOperator();
    const seen = follow(cloud);
    await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
    await cloud.ready();
    await cloud.clock.advance(5000);
    for (const object of seen) {
      const conditions = conditionsOf(object);
      const { observedGeneration } = object['status'] as { observedGeneration: number };
      const ready = conditions.at(-1);
      expect(ready?.type).toBe('Ready');
      expect(ready?.status).toBe(conditions.slice(0, -1).every(({ status }) => status === 'True') ? 'True' : 'False');
      for (const { reason, message, observedGeneration: of } of conditions) {
        expect(Object.keys(reasons)).toContain(reason);
        expect(of).toBe(observedGeneration);
        // What a pass has written it does not report as still to be written.
        if (reason === 'Missing') expect(message).toMatch(/^waiting for /);
      }
    }
    const ours = cloud
      .list('Event')
      .filter(isOurs)
      .map((event) => ({
        reason: String(event['reason']),
        count: ((event['series'] ?? {}) as { count?: number }).count ?? 1,
      }));
    const steps = new Set(seen.flatMap(conditionsOf).map(({ type }) => type));
    const known = [...Object.keys(reasons), ...Object.keys(eventReasons), ...steps];
    expect(ours.filter(({ reason }) => !known.includes(reason))).toEqual([]);
    // Each resource that is Ready, once.
    expect(ours.filter(({ count }) => count > 1)).toEqual([]);
    expect(ours.length).toBeLessThan(20);
    expect(ours.length).toBeGreaterThan(3);
  });

  test('a transition time changes with the status, and with nothing else', async () => {
    const { cloud } = await readyCloud({ spec: identityOnly });
    const before = conditionsOf(cloud.get('Keystone', keystone) as KubeObject);
    await cloud.clock.advance(60_000);
    await cloud.change(ControlPlane, 'my-cloud', { spec: { keystone: { components: { api: { replicas: 2 } } } } });
    await cloud.ready();
    const after = conditionsOf(cloud.get('Keystone', keystone) as KubeObject);
    const moved = after.filter(
      ({ type, lastTransitionTime }) =>
        before.find((one) => one.type === type)?.lastTransitionTime !== lastTransitionTime,
    );
    expect(moved.map(({ type }) => type)).toEqual(['DeploymentReady', 'EndpointReady', 'SchedulesReady', 'Ready']);
    expect(after.map(({ observedGeneration }) => observedGeneration)).toEqual(after.map(() => 2));
  });
});

test('no generation is Ready before what it states is written and rolled out', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  const seen = follow(cloud);
  await cloud.change(ControlPlane, 'my-cloud', { spec: { keystone: { components: { api: { replicas: 2 } } } } });
  const replicas = (object: KubeObject | undefined) =>
    (object?.['spec'] as { replicas?: number } | undefined)?.replicas;
  await cloud.until(() => replicas(cloud.get('Deployment', `${keystone}-api`)) === 2);
  await cloud.ready();
  await cloud.clock.advance(10_000);
  const firstReady = (kind: string) =>
    seen
      .filter((object) => object.kind === kind && object.metadata.generation === 2)
      .map((object) => conditionsOf(object).at(-1)?.status);
  for (const kind of ['Keystone', 'OpenStackControlPlane']) {
    const states = firstReady(kind).filter((status, index, all) => status !== all[index - 1]);
    // Stale first: the old status under the new generation, which its observedGeneration tells.
    expect(states.slice(-2), kind).toEqual(['False', 'True']);
    expect(states.length, kind).toBeLessThanOrEqual(3);
    const early = seen.filter((object) => {
      const ready = conditionsOf(object).at(-1);
      return object.kind === kind && ready?.status === 'True' && ready.observedGeneration === 2;
    });
    expect(early[0] && JSON.stringify(early[0]['status']), kind).not.toContain('RollingOut');
  }
});

test('last words that hold a secret are told without it', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const hidden = 'hunter2.invalid';
  const admin = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db-admin', namespace: 'openstack' } };
  await cloud.settle(cloud.rehearsal.create({ ...admin, stringData: { username: 'root', password: hidden } }));
  const databaseRef = { external: { host: hidden, secretName: 'db-admin' } };
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...identityOnly, keystone: { databaseRef } })));
  await cloud.until(() => cloud.condition(Keystone, keystone)?.reason === 'JobFailed');
  await cloud.clock.advance(5000);
  expect(cloud.condition(Keystone, keystone)?.message).toContain('[redacted]');
  const told = cloud.rehearsal
    .objects()
    .filter((object) => object.apiVersion.startsWith('openstack') || isOurs(object))
    .map((object) => JSON.stringify([object['status'], object['note'], object['message']]));
  expect(told.filter((text) => text.includes(hidden))).toEqual([]);
});

test('a server that refuses writes for a moment turns no condition of a cloud that is Ready', async () => {
  let broken = false;
  let refused = 0;
  const { cloud } = await readyCloud({
    // What an audit reports would be refused as well, and put off what is looked at here.
    spec: { ...identityOnly, keystone: { recordsAudit: { suspend: true } } },
    life: asOperator,
    server: {
      faults: {
        request: ({ method, user }) => {
          if (!broken || method === 'GET' || user.name !== 'operator') return undefined;
          refused++;
          return { kind: 'status', code: 503 };
        },
      },
    },
  });
  const seen = follow(cloud);
  const part = () => cloud.get('Deployment', `${keystone}-api`)?.metadata.labels?.['app.kubernetes.io/part-of'];
  broken = true;
  const labels = { 'app.kubernetes.io/part-of': 'nothing' };
  await cloud.change(Deployment, `${keystone}-api`, { metadata: { labels } });
  await cloud.clock.advance(60_000);
  expect(refused).toBeGreaterThan(3);
  expect(refused).toBeLessThan(60);
  expect(part()).toBe('nothing');
  broken = false;
  await cloud.until(() => part() === 'openstack', 5);
  await cloud.clock.advance(10_000);
  expect(seen.filter((object) => conditionsOf(object).some(({ status }) => status !== 'True'))).toEqual([]);
});

/** A cloud whose Deployments the server refuses to correct while it is `broken`, and one of them is wrong. */
async function refusedCorrection() {
  let broken = false;
  const { cloud } = await readyCloud({
    spec: { ...identityOnly, keystone: { recordsAudit: { suspend: true } } },
    life: asOperator,
    server: {
      faults: {
        request: ({ method, user, path }) =>
          broken && method !== 'GET' && user.name === 'operator' && path.includes('/deployments/')
            ? { kind: 'status', code: 500 }
            : undefined,
      },
    },
  });
  const refuse = (refuses: boolean) => {
    broken = refuses;
  };
  refuse(true);
  await cloud.change(Deployment, `${keystone}-api`, {
    metadata: { labels: { 'app.kubernetes.io/part-of': 'nothing' } },
  });
  return { cloud, refuse, ready: () => cloud.condition(Keystone, keystone) };
}

test('a correction that the server refuses for minutes is told, and the cloud stays Ready', async () => {
  const { cloud, refuse, ready } = await refusedCorrection();
  await cloud.clock.advance(240_000);
  expect(ready()).toMatchObject({ status: 'True', message: '' });
  await cloud.until(() => ready()?.message !== '', 20);
  expect(ready()).toMatchObject({ status: 'True', message: expect.stringContaining(`${keystone}-api`) });
  expect(cloud.list('Event').filter(({ reason }) => reason === 'Degraded')).toHaveLength(1);
  refuse(false);
  await cloud.until(() => ready()?.message === '', 20);
});

test('a pause is no failure: what fails again after it is told when it has lasted since', async () => {
  const { cloud, ready } = await refusedCorrection();
  const pause = (value: string | null) =>
    cloud.change(Keystone, keystone, { metadata: { annotations: { 'openstack.k8s.io/paused': value } } });
  await cloud.clock.advance(120_000);
  await pause('true');
  await cloud.clock.advance(600_000);
  await pause(null);
  await cloud.clock.advance(120_000);
  expect(ready()).toMatchObject({ status: 'True', message: '' });
  await cloud.until(() => ready()?.message !== '', 20);
});
