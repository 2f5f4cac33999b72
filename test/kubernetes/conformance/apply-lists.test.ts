import { expect, test } from 'vitest';
import { applying, configMap, service } from './applying.ts';
import { stable } from './server.ts';

const { apply, configMapPath, namespace, servicePath } = await applying();

test('list items are merged by their keys', async () => {
  const path = servicePath('ports');
  const http = { name: 'http', port: 80 };
  const https = { name: 'https', port: 443, targetPort: 8443 };
  await apply(path, service('ports', { ports: [http], selector: { app: 'x' } }), { manager: 'one' });
  const both = await apply(path, service('ports', { ports: [https] }), { manager: 'two' });
  expect((both.body['spec'] as { ports: unknown }).ports).toMatchInlineSnapshot(`
    [
      {
        "name": "http",
        "port": 80,
        "protocol": "TCP",
        "targetPort": 80,
      },
      {
        "name": "https",
        "port": 443,
        "protocol": "TCP",
        "targetPort": 8443,
      },
    ]
  `);
  expect(stable(both.body.metadata.managedFields)).toMatchInlineSnapshot(`
    [
      {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
          "f:spec": {
            "f:ports": {
              "k:{"port":80,"protocol":"TCP"}": {
                ".": {},
                "f:name": {},
                "f:port": {},
              },
            },
            "f:selector": {},
          },
        },
        "manager": "one",
        "operation": "Apply",
        "time": "<time>",
      },
      {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
          "f:spec": {
            "f:ports": {
              "k:{"port":443,"protocol":"TCP"}": {
                ".": {},
                "f:name": {},
                "f:port": {},
                "f:targetPort": {},
              },
            },
          },
        },
        "manager": "two",
        "operation": "Apply",
        "time": "<time>",
      },
    ]
  `);
  const left = await apply(path, service('ports', { selector: { app: 'x' } }), { manager: 'one' });
  expect((left.body['spec'] as { ports: unknown }).ports).toMatchInlineSnapshot(`
    [
      {
        "name": "https",
        "port": 443,
        "protocol": "TCP",
        "targetPort": 8443,
      },
    ]
  `);
});

test('a key that is stated twice is refused', async () => {
  const ports = [
    { name: 'a', port: 80 },
    { name: 'b', port: 80 },
  ];
  const answer = await apply(servicePath('twice'), service('twice', { ports }), { manager: 'one' });
  expect(stable([answer.status, answer.body], namespace)).toMatchInlineSnapshot(`
    [
      500,
      {
        "apiVersion": "v1",
        "code": 500,
        "kind": "Status",
        "message": "failed to create typed patch object (/twice; /v1, Kind=Service): .spec.ports: duplicate entries for key [port=80,protocol="TCP"]",
        "metadata": {},
        "status": "Failure",
      },
    ]
  `);
});

test('finalizers are a set', async () => {
  const path = configMapPath('set');
  const metadata = (finalizer: string) => ({ metadata: { name: 'set', finalizers: [finalizer] } });
  await apply(path, configMap('set', metadata('example.com/a')), { manager: 'one' });
  const both = await apply(path, configMap('set', metadata('example.com/b')), { manager: 'two' });
  expect(both.body.metadata.finalizers).toEqual(['example.com/a', 'example.com/b']);
  const left = await apply(path, configMap('set'), { manager: 'one' });
  expect(left.body.metadata.finalizers).toEqual(['example.com/b']);
  await apply(path, configMap('set'), { manager: 'two' });
});

test('owner references are merged by uid', async () => {
  const path = configMapPath('owned');
  const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid });
  const owned = (uid: string) => configMap('owned', { metadata: { name: 'owned', ownerReferences: [owner(uid)] } });
  await apply(path, owned('one'), { manager: 'one' });
  const both = await apply(path, owned('two'), { manager: 'two' });
  expect(both.body.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual(['one', 'two']);
  expect(stable(both.body.metadata.managedFields)).toMatchInlineSnapshot(`
    [
      {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
          "f:metadata": {
            "f:ownerReferences": {
              "k:{"uid":"one"}": {},
            },
          },
        },
        "manager": "one",
        "operation": "Apply",
        "time": "<time>",
      },
      {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
          "f:metadata": {
            "f:ownerReferences": {
              "k:{"uid":"two"}": {},
            },
          },
        },
        "manager": "two",
        "operation": "Apply",
        "time": "<time>",
      },
    ]
  `);
});
