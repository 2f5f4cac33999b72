import { expect, test } from 'vitest';
import { agentsOf } from './node-groups.ts';

test('the agents of a group are told by its name alone; those of the one that nobody named keep theirs', () => {
  expect(agentsOf('edge')).toEqual({ suffix: '-edge', nodes: { 'openstack.k8s.io/node-group': 'edge' } });
  expect(agentsOf('default')).toEqual({ suffix: '', nodes: { 'openstack.k8s.io/node-group': 'default' } });
});
