import { StatefulSet } from '@openstack-operator/kube';
import { MariaDB } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { identityOnly, readyCloud } from './cloud.ts';

const name = 'my-cloud-mariadb';

test('somebody changes the database back each time: it rolls more and more seldom, and a condition names who', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  const client = cloud.rehearsal.sandbox.client();
  const grace = 7;
  const foreign = { spec: { template: { spec: { terminationGracePeriodSeconds: grace } } } };
  const isForeign = () => {
    const spec = cloud.get('StatefulSet', name)?.['spec'] as
      | { template: { spec: { terminationGracePeriodSeconds: number } } }
      | undefined;
    return spec?.template.spec.terminationGracePeriodSeconds === grace;
  };
  let fights = true;
  let corrections = 0;
  const change = () =>
    client.patch(StatefulSet, { namespace: 'openstack', name }, 'merge', foreign, { fieldManager: 'other-controller' });
  cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ type, object }) => {
    if (type !== 'MODIFIED' || object.metadata.name !== name || object.kind !== 'StatefulSet') return;
    if (!fights || isForeign()) return;
    corrections++;
    void change();
  });
  await cloud.settle(change());
  const reasons = new Set<string | undefined>();
  const messages: string[] = [];
  for (let minute = 0; minute < 30; minute++) {
    await cloud.clock.advance(60_000);
    const ready = cloud.condition(MariaDB, name);
    reasons.add(ready?.reason);
    if (ready?.reason === 'Contended') messages.push(ready.message);
  }
  expect(corrections).toBeGreaterThan(5);
  expect(corrections).toBeLessThan(15);
  expect(reasons).toContain('Contended');
  expect(messages[0]).toContain(`StatefulSet ${name} is changed back each time that it is corrected`);
  expect(messages[0]).toContain('field manager other-controller');
  const warnings = cloud.list('Event').filter(({ reason }) => reason === 'Contended');
  expect(warnings.length).toBeGreaterThan(0);

  fights = false;
  await cloud.until(() => cloud.isReady('MariaDB', name) && !isForeign(), 15);
});

test('what is changed by hand a few times is corrected at once', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  for (const replicas of [2, 3, 4, 5]) {
    await cloud.change(StatefulSet, name, { spec: { replicas } });
    expect(cloud.get('StatefulSet', name)?.['spec']).toMatchObject({ replicas: 1 });
  }
});
