import { operatorNamespace } from '@openstack-operator/cli';
import { CustomResourceDefinition, isApiError, noLog, seededRandom } from '@openstack-operator/kube';
import { crd, kinds } from '@openstack-operator/openstack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud } from '../rollout/cloud.ts';
import { type EarlierPackages, earlierPackages, earlierRevision, isKnown } from './earlier-packages.ts';
import { described, momentOf, type Upgrade, upgradeOf } from './moment.ts';

/** The oldest revision whose clouds this operator takes over without a restart. */
const oldest = '0f9fce9eb4e5ce5689cb72033641b3e3d9220a2d';
const from = earlierRevision(process.env['UPGRADE_FROM'] || (isKnown(oldest) ? oldest : undefined));

/** Of every release the operator's image has another name. */
const earlierImage = 'ghcr.io/openstack-operator/openstack-operator:earlier';

if (typeof from === 'string') test.skip(`an upgrade of the operator: ${from}`, () => {});
else {
  let upgrade: Upgrade;
  let cloud: Cloud;

  beforeAll(async () => {
    using earlier = await earlierPackages(from);
    // Earlier operators gave Neutron names of OVN's databases.
    // Room for a second pod of each Deployment, as docs/guides/production.md asks for.
    cloud = await createCloud({ resolver: true, capacity: { cpu: '4', memory: '16Gi' } });
    upgrade = await upgraded(cloud, earlier);
    console.log(`from ${from.subject}\n${described(upgrade)}`);
  });
  afterAll(() => cloud.rehearsal.stop());

  test('no node agent is replaced: guests would be without network or consoles', () => {
    expect(upgrade.restarts.filter(({ owner }) => owner.startsWith('DaemonSet '))).toEqual([]);
  });

  test('a pod is replaced only when its template changed, which the list tells', () => {
    expect(upgrade.restarts.filter(({ reason }) => reason === undefined)).toEqual([]);
  });

  test('a Job runs again only when its inputs changed', () => {
    expect(upgrade.jobs.filter(({ reason }) => reason === undefined)).toEqual([]);
  });

  test('no Secret is made anew', () => {
    expect(upgrade.secrets).toEqual([]);
  });

  test('what running pods mount is still there: they start again after a power failure', () => {
    expect(upgrade.missing).toEqual([]);
  });

  test('the cloud is Ready', () => {
    expect(cloud.isReady('OpenStackControlPlane', 'my-cloud')).toBe(true);
  });
}

/** A cloud by the earlier operator under its own CRDs; then ours, and five minutes. No resource is changed. */
async function upgraded(cloud: Cloud, earlier: EarlierPackages): Promise<Upgrade> {
  const { clock, rehearsal } = cloud;
  const { sandbox } = rehearsal;
  await install(cloud, earlier.openstack.kinds.map(earlier.openstack.crd));
  const stop = new AbortController();
  const started = Promise.withResolvers<unknown>();
  const ended = earlier.operator.runOperator({
    client: earlier.kube.createClient({ transport: sandbox.transport(), clock, userAgent: 'openstack-operator' }),
    clock,
    random: seededRandom(2),
    log: noLog,
    signal: stop.signal,
    namespace: operatorNamespace,
    identity: 'earlier',
    operatorImage: earlierImage,
    started: started.resolve,
  });
  ended.catch(started.reject);
  await cloud.settle(started.promise);
  await cloud.settle(rehearsal.create(controlPlane()));
  await cloud.ready();
  await clock.advance(60_000);
  stop.abort(new Error('upgraded'));
  await cloud.settle(ended);

  const before = momentOf(rehearsal.objects(), 'openstack');
  await install(cloud, kinds.map(crd));
  await cloud.startOperator({ identity: 'later' });
  await clock.advance(300_000);
  return upgradeOf(before, momentOf(rehearsal.objects(), 'openstack'));
}

/** Makes the definitions be as they are given, as `kubectl apply` does. */
async function install(cloud: Cloud, definitions: readonly object[]): Promise<void> {
  const client = cloud.rehearsal.sandbox.client();
  for (const definition of definitions as CustomResourceDefinition[]) {
    const { name = '' } = definition.metadata;
    const put = async () => {
      try {
        const { resourceVersion } = (await client.get(CustomResourceDefinition, { name })).metadata;
        await client.replace(CustomResourceDefinition, {
          ...definition,
          metadata: { ...definition.metadata, resourceVersion },
        });
      } catch (error) {
        if (!isApiError(error, 404)) throw error;
        await client.create(CustomResourceDefinition, definition);
      }
    };
    await cloud.settle(put());
  }
}
