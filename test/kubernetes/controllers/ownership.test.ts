import {
  ConfigMap,
  Namespace,
  type OwnerReference,
  Pod,
  ServiceAccount,
  type StoredObject,
} from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { controllerServer, stable, template } from './server.ts';

const server = controllerServer();
const { client, eventually, list } = server;

const reference = ({ metadata }: StoredObject, blockOwnerDeletion = false): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: metadata.name,
  uid: metadata.uid,
  ...(blockOwnerDeletion && { blockOwnerDeletion }),
});

async function configMap(
  namespace: string,
  name: string,
  ownerReferences: OwnerReference[] = [],
  finalizers: string[] = [],
) {
  const metadata = {
    name,
    namespace,
    ...(ownerReferences.length > 0 && { ownerReferences }),
    ...(finalizers.length > 0 && { finalizers }),
  };
  return client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
}

const names = async (namespace: string) =>
  (await list(ConfigMap, namespace)).map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');

test('dependents go with their owner, through all generations', async () => {
  const namespace = await server.namespace();
  const owner = await configMap(namespace, 'owner');
  const child = await configMap(namespace, 'child', [reference(owner)]);
  await configMap(namespace, 'grandchild', [reference(child)]);
  await client.delete(ConfigMap, { namespace, name: 'owner' }, { propagationPolicy: 'Background' });
  await eventually(
    () => names(namespace),
    ({ length }) => length === 0,
  );
});

test('orphans stay, without a reference to the owner', async () => {
  const namespace = await server.namespace();
  const owner = await configMap(namespace, 'owner');
  await configMap(namespace, 'child', [reference(owner)]);
  await client.delete(ConfigMap, { namespace, name: 'owner' }, { propagationPolicy: 'Orphan' });
  await eventually(
    () => names(namespace),
    ({ length }) => length === 1,
  );
  const [child] = (await list(ConfigMap, namespace)).filter(({ metadata }) => metadata.name === 'child');
  expect(child?.metadata.ownerReferences).toBeUndefined();
});

test('in the foreground the owner waits for dependents that block it', async () => {
  const namespace = await server.namespace();
  const owner = await configMap(namespace, 'owner');
  await configMap(namespace, 'child', [reference(owner, true)], ['example.com/held']);
  await configMap(namespace, 'free', [reference(owner)]);
  await client.delete(ConfigMap, { namespace, name: 'owner' }, { propagationPolicy: 'Foreground' });
  await eventually(
    () => names(namespace),
    (left) => !left.includes('free'),
  );
  const waiting = await client.get(ConfigMap, { namespace, name: 'owner' });
  expect(waiting.metadata).toMatchObject({ finalizers: ['foregroundDeletion'], deletionGracePeriodSeconds: 0 });
  await eventually(
    () => client.get(ConfigMap, { namespace, name: 'child' }),
    ({ metadata }) => metadata.deletionTimestamp !== undefined,
  );
  await client.patch(ConfigMap, { namespace, name: 'child' }, 'merge', { metadata: { finalizers: null } });
  await eventually(
    () => names(namespace),
    ({ length }) => length === 0,
  );
});

test('a dependent of two owners stays with the other one', async () => {
  const namespace = await server.namespace();
  const [one, two] = [await configMap(namespace, 'one'), await configMap(namespace, 'two')];
  await configMap(namespace, 'child', [reference(one), reference(two)]);
  await client.delete(ConfigMap, { namespace, name: 'one' }, { propagationPolicy: 'Background' });
  const child = await eventually(
    () => client.get(ConfigMap, { namespace, name: 'child' }),
    ({ metadata }) => metadata.ownerReferences?.length === 1,
  );
  expect(child.metadata.ownerReferences?.[0]?.name).toBe('two');
});

test('an owner in another namespace, or of another uid, is none', async () => {
  const namespace = await server.namespace();
  const elsewhere = await configMap(await server.namespace(), 'owner');
  await configMap(namespace, 'child', [reference(elsewhere)]);
  await eventually(
    () => names(namespace),
    ({ length }) => length === 0,
  );
});

test('a namespace has its defaults, and is emptied when it is deleted', async () => {
  const namespace = await server.namespace();
  await eventually(
    () => list(ConfigMap, namespace),
    (found) => found.some(({ metadata }) => metadata.name === 'kube-root-ca.crt'),
  );
  await client.delete(ServiceAccount, { namespace, name: 'default' });
  await eventually(
    () => list(ServiceAccount, namespace),
    ({ length }) => length === 1,
  );
  await configMap(namespace, 'held', [], ['example.com/held']);
  await client.create(Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace },
    spec: template({}).spec,
  });
  await client.delete(Namespace, { name: namespace });
  const going = await eventually(
    () => client.get(Namespace, { name: namespace }),
    ({ status }) =>
      status?.conditions?.some(
        ({ type, status: value, message }) =>
          type === 'NamespaceFinalizersRemaining' && value === 'True' && message?.includes('held'),
      ) === true,
  );
  expect(stable([going.spec, going.status], namespace)).toMatchInlineSnapshot(`
    [
      {
        "finalizers": [
          "kubernetes",
        ],
      },
      {
        "conditions": [
          {
            "lastTransitionTime": "<time>",
            "message": "All resources successfully discovered",
            "reason": "ResourcesDiscovered",
            "status": "False",
            "type": "NamespaceDeletionDiscoveryFailure",
          },
          {
            "lastTransitionTime": "<time>",
            "message": "All legacy kube types successfully parsed",
            "reason": "ParsedGroupVersions",
            "status": "False",
            "type": "NamespaceDeletionGroupVersionParsingFailure",
          },
          {
            "lastTransitionTime": "<time>",
            "message": "All content successfully deleted, may be waiting on finalization",
            "reason": "ContentDeleted",
            "status": "False",
            "type": "NamespaceDeletionContentFailure",
          },
          {
            "lastTransitionTime": "<time>",
            "message": "Some resources are remaining: configmaps. has 1 resource instances",
            "reason": "SomeResourcesRemain",
            "status": "True",
            "type": "NamespaceContentRemaining",
          },
          {
            "lastTransitionTime": "<time>",
            "message": "Some content in the namespace has finalizers remaining: example.com/held in 1 resource instances",
            "reason": "SomeFinalizersRemain",
            "status": "True",
            "type": "NamespaceFinalizersRemaining",
          },
        ],
        "phase": "Terminating",
      },
    ]
  `);
  const refused = configMap(namespace, 'late');
  await expect(refused).rejects.toThrow(/because it is being terminated/);
  await client.patch(ConfigMap, { namespace, name: 'held' }, 'merge', { metadata: { finalizers: null } });
  await eventually(
    async () => (await client.list(Namespace)).items.map(({ metadata }) => metadata.name),
    (left) => !left.includes(namespace),
  );
});
