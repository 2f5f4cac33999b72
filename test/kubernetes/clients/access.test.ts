import { expect } from 'vitest';
import { test } from './cluster.ts';

test('auth whoami and can-i, for oneself and for others', async ({ kubectl }) => {
  expect(await kubectl`auth whoami`).toMatch(/^Username +kubernetes-admin$/m);
  expect(await kubectl`auth can-i delete nodes`).toBe('yes\n');
  expect((await kubectl.run`auth can-i list pods --as=bob`).stdout).toBe('no\n');
  await kubectl`create role reader --verb=get,list,watch --resource=pods,pods/log`;
  await kubectl`create rolebinding reader --role=reader --user=bob --group=readers`;
  expect(await kubectl`auth can-i list pods --as=bob`).toBe('yes\n');
  expect(await kubectl`auth can-i list pods --as=carol --as-group=readers`).toBe('yes\n');
  expect(await kubectl`auth can-i --list --as=bob`).toMatch(/^pods\/log +\[\] +\[\] +\[get list watch\]$/m);

  const bob = kubectl.with({ user: { name: 'bob', groups: [] } });
  expect(await bob`get pods -o name`).toBe('');
  expect(await bob.fails`delete pod any`).toBe(
    `Error from server (Forbidden): pods "any" is forbidden: User "bob" cannot delete resource "pods" in API group "" in the namespace "${kubectl.namespace}"`,
  );
  expect(await bob.fails`get pods --as=carol`).toContain('User "bob" cannot impersonate resource "users"');
});

test('nobody gives away what he does not have', async ({ kubectl }) => {
  await kubectl`create role roles --verb=create --resource=roles.rbac.authorization.k8s.io`;
  await kubectl`create rolebinding roles --role=roles --user=eve`;
  const eve = kubectl.with({ user: { name: 'eve', groups: [] } });
  expect(await eve.fails`create role more --verb=get --resource=secrets`).toContain(
    'is attempting to grant RBAC permissions not currently held',
  );
});

test('a service account is known by its name', async ({ kubectl }) => {
  await kubectl`create serviceaccount robot`;
  await kubectl`create role reader --verb=get --resource=configmaps`;
  await kubectl`create rolebinding reader --role=reader --serviceaccount=${kubectl.namespace}:robot`;
  const name = `system:serviceaccount:${kubectl.namespace}:robot`;
  expect(await kubectl`auth can-i get configmaps --as=${name}`).toBe('yes\n');
  expect((await kubectl.run`auth can-i get secrets --as=${name}`).stdout).toBe('no\n');
});
