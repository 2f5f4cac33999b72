import { ApiError, type StoredObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { tellChildren } from './children.ts';
import type { OperatorContext } from './context.ts';

const apiVersion = 'openstack.k8s.io/v1alpha1';
const stored = (kind: string, name: string, more: object = {}): StoredObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'ns', uid: name, resourceVersion: '1', generation: 1 },
  ...more,
});

test('a child that refuses to be told holds up neither the others nor the report', async () => {
  const root = stored('OpenStackControlPlane', 'c', { spec: { deletionPolicy: 'Retain' } });
  const spec = { deletionPolicy: 'Delete' };
  const children = [stored('MariaDB', 'c-mariadb', { spec }), stored('Keystone', 'c-keystone', { spec })];
  const patched: string[] = [];
  const context = {
    object: root,
    key: 'ns/c',
    operator: { name: 'o' },
    signal: new AbortController().signal,
    cache: {
      get: () => root,
      has: () => true,
      list: () => [],
      controlledBy: (kind: { kind: string }) => children.filter((child) => child.kind === kind.kind),
    },
    client: {
      patch: async (_kind: unknown, { name }: { name: string }) => {
        if (name === 'c-mariadb')
          throw new ApiError(
            { apiVersion: 'v1', kind: 'Status', code: 422, reason: 'Invalid', message: 'spec.storage: too small' },
            'PATCH',
          );
        patched.push(name);
      },
    },
  } as unknown as OperatorContext;
  const { retaining, failures } = await tellChildren(context);
  expect(retaining.map(({ kind }) => kind)).toEqual(['MariaDB', 'Keystone']);
  expect([...failures].map(([condition, { message }]) => [condition, message])).toEqual([
    ['MariaDBReady', expect.stringContaining('spec.storage: too small')],
  ]);
  expect(patched).toEqual(['c-keystone']);
});
