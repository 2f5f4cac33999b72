import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, resource, surroundings } from '../../testing/compositions.ts';
import type { EmptyPlan } from '../vocabulary/emptying.ts';
import type { NodeFacts } from '../vocabulary/surroundings.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

/** What a Nova is composed to whose two nodes are so. */
function compose(of: Readonly<Record<string, Partial<NodeFacts>>>, spec: object = {}) {
  const nova = resource(read('nova'));
  const known = surroundings(read);
  const nodes = known.nodes?.map((node) => ({ ...node, ...of[node.name] })) ?? [];
  const composition = composed({ ...nova, spec: { ...nova.spec, ...spec } }, { ...known, nodes });
  return { ...composition, step: composition.steps.find(({ condition }) => condition === 'MaintenanceReady') };
}

/** The command of a Job, and the plan in it. */
function planIn(job: unknown) {
  const { spec } = job as {
    spec: { backoffLimit: number; template: { spec: { containers: { command: [string, string, string] }[] } } };
  };
  const [program, command, plan = ''] = spec.template.spec.containers[0]?.command ?? [];
  return { program, command, text: plan, plan: JSON.parse(plan) as EmptyPlan, backoffLimit: spec.backoffLimit };
}

test('a Job has nodes in maintenance emptied, and lets in again where that is over; nothing waits for it', () => {
  const { step, emptying } = compose({
    'node-1': { maintenance: { reason: 'say $(OS_PASSWORD)' } },
    'node-2': { maintenance: {} },
  });
  expect(emptying).toMatchObject({ hosts: ['node-1'], back: ['node-2'] });
  expect(step?.objects).toEqual([{ verb: 'apply', object: emptying?.job, aside: true }]);
  const { plan, text, backoffLimit, ...called } = planIn(emptying?.job);
  expect(called).toEqual({ program: 'openstack-operator', command: 'empty' });
  expect(plan).toMatchObject({
    mark: 'openstack.k8s.io/maintenance',
    hosts: [{ name: 'node-1', reason: 'say $(OS_PASSWORD)' }],
    back: ['node-2'],
    stays: 'spec.liveMigration.enabled is not set',
  });
  // The kubelet would put a variable there.
  expect(text).not.toContain('$(');
  expect(backoffLimit, 'the operator tries again').toBe(0);
  const moving = compose({ 'node-1': { maintenance: { reason: 'x' } } }, { liveMigration: { enabled: true } });
  expect(planIn(moving.emptying?.job).plan).not.toHaveProperty('stays');
  expect(planIn(moving.emptying?.job).plan).not.toHaveProperty('confirmed');
  const copying = compose({ 'node-1': { maintenance: { reason: 'x' } } }, { coldMigration: { enabled: true } });
  expect(planIn(copying.emptying?.job).plan).toMatchObject({
    stays: 'spec.liveMigration.enabled is not set',
    confirmed: { movable: ['SHUTOFF'], body: { migrate: null } },
  });
});

test('what is no host is not emptied, and without maintenance there is nothing', () => {
  const maintenance = { reason: 'x' };
  for (const nodes of [
    {},
    { 'node-1': { maintenance, joined: false } },
    { 'node-1': { maintenance, labels: { 'openstack.k8s.io/cloud': 'openstack.standalone' } } },
  ]) {
    const { step, emptying } = compose(nodes);
    expect([step, emptying]).toEqual([undefined, undefined]);
  }
});

test('who sees the servers of one project alone cannot tell that a node is empty', () => {
  const policy = { context_is_admin: 'role:cloud_admin' };
  const { step } = compose({ 'node-1': { maintenance: { reason: 'x' } } }, { policy });
  expect(step?.objects).toEqual([]);
  expect(step?.skipped).toMatchObject({ reason: 'Skipped', message: expect.stringContaining('context_is_admin') });
});
