import { expect, test } from 'vitest';
import { collectionPath } from '../client/urls.ts';
import * as kinds from './kinds.ts';
import { apiVersionOf } from './objects.ts';

test('each kind is exported under its own name', () => {
  for (const [name, kind] of Object.entries(kinds)) expect(kind.kind).toBe(name);
});

test('kinds know their group and scope', () => {
  expect(collectionPath(kinds.Pod, 'a')).toBe('/api/v1/namespaces/a/pods');
  expect(collectionPath(kinds.HTTPRoute)).toBe('/apis/gateway.networking.k8s.io/v1/httproutes');
  expect(apiVersionOf(kinds.NetworkPolicy)).toBe('networking.k8s.io/v1');
  const clusterScoped = Object.values(kinds).filter(({ namespaced }) => !namespaced);
  expect(clusterScoped.map(({ kind }) => kind).sort()).toEqual([
    'ClusterRole',
    'ClusterRoleBinding',
    'CustomResourceDefinition',
    'Namespace',
    'Node',
    'PersistentVolume',
    'PriorityClass',
    'StorageClass',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
  ]);
});
