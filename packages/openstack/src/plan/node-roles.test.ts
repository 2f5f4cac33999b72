import type { KubeObject, StoredObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { cloudLabel, cloudOf, computeLabel, nodeGroupLabel } from '../engine/names/names.ts';
import { nodeClaims, type RoleGroups, roleClaims, roleLabel } from '../engine/vocabulary/node-groups.ts';
import type { Live } from './live.ts';
import { plan } from './plan.ts';
import { liveWith, stored } from './testing.ts';

const cleaner = {
  cleaner: { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'cleaner', namespace: 'ns' } },
};
const roles: RoleGroups[] = [
  { role: { name: 'storage' }, groups: [{ name: 'a' }] },
  { role: { name: 'metal', apartFrom: ['compute'] }, groups: [{ name: 'a', replicas: 1 }] },
];
const claims = (resource: KubeObject) => [
  ...nodeClaims(resource, [{ name: 'default', replicas: 1 }], {
    compute: true,
    ...cleaner,
    roles: roles.map(({ role }) => role),
  }),
  ...roleClaims(resource, roles, cleaner),
];
const node = (name: string, labels: Record<string, string> = {}) =>
  stored('v1', 'Node', name, { status: { conditions: [{ type: 'Ready', status: 'True' }] }, metadata: { labels } });
const cloud = (live: Live) => ({ [cloudLabel]: cloudOf(live.resource) });
const taken = (nodes: (live: Live) => readonly StoredObject[]) => {
  const live = liveWith(nodes(liveWith([])));
  const objects = claims(live.resource);
  const steps = [{ condition: 'NodesReady', needs: [], awaits: [], objects }];
  const { actions } = plan({ steps, complete: true, status: {} }, live);
  return actions.flatMap((action) =>
    action.verb !== 'claim'
      ? []
      : [
          `${action.node.metadata.name} ${Object.keys(action.labels ?? {})
            .join(' ')
            .replaceAll('openstack.k8s.io/', '')}`,
        ],
  );
};

test('a node of the cloud has further ones, unless they are apart from those that it has', () => {
  const hypervisor = { [nodeGroupLabel]: 'default', [computeLabel]: 'true' };
  expect(taken((live) => [node('n1', { ...cloud(live), ...hypervisor }), node('n2')])).toEqual([
    'n1 cloud role-storage',
    'n2 cloud role-storage',
  ]);
  const all = { ...hypervisor, [roleLabel('storage')]: 'a' };
  expect(taken((live) => [node('n1', { ...cloud(live), ...all }), node('n2')])).toEqual(['n2 cloud role-storage']);
  const storage = { [roleLabel('storage')]: 'a' };
  expect(taken((live) => [node('n1', { ...cloud(live), ...all }), node('n2', { ...cloud(live), ...storage })])).toEqual(
    ['n2 cloud role-metal'],
  );
});

test('guests come to a node that has other roles alone, none to one that is apart from them', () => {
  const has = (role: string) => ({ [roleLabel(role)]: 'a' });
  const both = { ...has('storage'), ...has('metal') };
  expect(taken((live) => [node('n1', { ...cloud(live), ...both })])).toEqual([]);
  expect(
    taken((live) => [node('n1', { ...cloud(live), ...both }), node('n2', { ...cloud(live), ...has('storage') })]),
  ).toEqual(['n2 cloud node-group compute']);
});

test('nodes of another cloud are left alone', () => {
  expect(taken(() => [node('n1', { [cloudLabel]: 'other.cloud' })])).toEqual([]);
});
