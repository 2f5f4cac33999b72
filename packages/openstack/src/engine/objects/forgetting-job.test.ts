import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, resource, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

/** What a resource is composed to whose annotation names these nodes; the cluster has node-1 and node-2. */
function compose(sample: string, names?: string) {
  const one = resource(read(sample));
  const annotations = names === undefined ? {} : { 'openstack.k8s.io/forget-nodes': names };
  const { steps, forgetting } = composed({ ...one, metadata: { ...one.metadata, annotations } }, surroundings(read));
  return { forgetting, step: steps.find(({ condition }) => condition === 'ForgettingReady') };
}

/** The command of a Job. */
function commandOf(job: unknown): readonly string[] {
  const { spec } = job as { spec: { template: { spec: { containers: { command: string[] }[] } } } };
  return spec.template.spec.containers[0]?.command ?? [];
}

test('a Job deletes what is recorded of nodes that are gone, each once; nothing waits for it', () => {
  for (const [sample, list] of [
    ['nova', '/os-services'],
    ['neutron', '/v2.0/agents'],
  ] as const) {
    const { step, forgetting } = compose(sample, ' node-9,rack-1.example.org,,node-9, ');
    expect(forgetting?.hosts).toEqual(['node-9', 'rack-1.example.org']);
    expect(step?.objects).toEqual([{ verb: 'apply', object: forgetting?.job, aside: true }]);
    const [program, command, plan = ''] = commandOf(forgetting?.job);
    expect([program, command]).toEqual(['openstack-operator', 'forget']);
    expect(JSON.parse(plan)).toMatchObject({ list: expect.stringContaining(list), hosts: forgetting?.hosts });
  }
});

test('where nothing of nodes is recorded by an API, it is known at once; a service without nodes has nothing to forget', () => {
  expect(compose('ovn-network', 'node-9')).toEqual({ forgetting: { hosts: ['node-9'] }, step: undefined });
  expect(compose('keystone', 'node-9')).toEqual({ forgetting: undefined, step: undefined });
});

test('none is forgotten while one is a node, or no name of one', () => {
  const { step, forgetting } = compose('nova', 'node-9,node-2,No(de');
  expect([forgetting, step?.objects]).toEqual([undefined, []]);
  expect(step?.skipped?.message).toBe(
    'annotation openstack.k8s.io/forget-nodes: no node is forgotten while these are no names of nodes: No(de; correct them; and these nodes of the cluster: node-2; take them out of the annotation, or delete the Node if it does not come back',
  );
  expect(compose('ovn-network', 'node-9,node-2').forgetting).toBeUndefined();
  expect(compose('nova')).toEqual({ forgetting: undefined, step: undefined });
});
