import { type ConfigMap as ConfigMapObject, defineKind } from '@openstack-operator/kube';
import { beforeAll, expect, test } from 'vitest';
import { type TestServer, testServer } from './server.ts';

const ConfigMap = defineKind<ConfigMapObject>('v1', 'ConfigMap', 'configmaps');

let server: TestServer;
let namespace: string;
let base: string;
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
  base = `/api/v1/namespaces/${namespace}/configmaps`;
});

const configMap = (name: string, data: Record<string, string> = {}): ConfigMapObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});

test('a second create of the same name is refused', async () => {
  await server.client.create(ConfigMap, configMap('twice'));
  const { status, body } = await server.request('POST', base, { body: configMap('twice') });
  expect(status).toBe(409);
  expect(body).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'configmaps "twice" already exists',
    reason: 'AlreadyExists',
    details: { name: 'twice', kind: 'configmaps' },
    code: 409,
  });
});

test('an update on top of an old version is refused', async () => {
  const first = await server.client.create(ConfigMap, configMap('stale', { x: '1' }));
  await server.client.replace(ConfigMap, { ...first, data: { x: '2' } });
  const { status, body } = await server.request('PUT', `${base}/stale`, { body: { ...first, data: { x: '3' } } });
  expect(status).toBe(409);
  expect(body).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message:
      'Operation cannot be fulfilled on configmaps "stale": the object has been modified; please apply your changes to the latest version and try again',
    reason: 'Conflict',
    details: { name: 'stale', kind: 'configmaps' },
    code: 409,
  });
});

test('an update without a version wins; one that changes nothing keeps the version', async () => {
  await server.client.create(ConfigMap, configMap('free', { x: '1' }));
  const second = await server.client.replace(ConfigMap, configMap('free', { x: '2' }));
  const third = await server.client.replace(ConfigMap, configMap('free', { x: '2' }));
  expect(third.metadata.resourceVersion).toBe(second.metadata.resourceVersion);
});

test('a version has no place in a create', async () => {
  const object = configMap('versioned');
  object.metadata.resourceVersion = '7';
  const { status, body } = await server.request('POST', base, { body: object });
  expect({ status, body }).toEqual({
    status: 500,
    body: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'resourceVersion should not be set on objects to be created',
      code: 500,
    },
  });
});

test('an update of another uid is refused', async () => {
  const created = await server.client.create(ConfigMap, configMap('other-uid'));
  const body = { ...created, metadata: { ...created.metadata, uid: 'someone-else' } };
  const answer = await server.request('PUT', `${base}/other-uid`, { body });
  expect(answer.status).toBe(409);
  expect(answer.body.message).toBe(
    `Operation cannot be fulfilled on configmaps "other-uid": StorageError: invalid object, Code: 4, Key: /registry/configmaps/${namespace}/other-uid, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: someone-else, UID in object meta: ${created.metadata.uid}`,
  );
});

test('an update of what is not there is refused', async () => {
  const { status, body } = await server.request('PUT', `${base}/missing`, { body: configMap('missing') });
  expect(status).toBe(404);
  expect(body.message).toBe('configmaps "missing" not found');
});

test('name and namespace must be those of the URL', async () => {
  const wrongName = await server.request('PUT', `${base}/one`, { body: configMap('two') });
  expect(wrongName.status).toBe(400);
  expect(wrongName.body.message).toBe('the name of the object (two) does not match the name on the URL (one)');
  const body = { ...configMap('x'), metadata: { name: 'x', namespace: 'elsewhere' } };
  const wrongNamespace = await server.request('POST', base, { body });
  expect(wrongNamespace.status).toBe(400);
  expect(wrongNamespace.body.message).toBe(
    'the namespace of the provided object does not match the namespace sent on the request',
  );
});

test('a patch that carries an old version is refused, one without is laid over the newest', async () => {
  const first = await server.client.create(ConfigMap, configMap('patched', { x: '1' }));
  await server.client.replace(ConfigMap, { ...first, data: { x: '2' } });
  const ref = { namespace, name: 'patched' };
  const patched = await server.client.patch(ConfigMap, ref, 'merge', { data: { y: '1' } });
  expect(patched.data).toEqual({ x: '2', y: '1' });
  const { resourceVersion } = first.metadata;
  const stale = server.client.patch(ConfigMap, ref, 'merge', { metadata: { resourceVersion }, data: { y: '2' } });
  await expect(stale).rejects.toMatchObject({ code: 409, reason: 'Conflict' });
});

test('uid, creation time and generated name are the server’s', async () => {
  const body = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { generateName: 'made-', uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z' },
  };
  const created = (await server.request('POST', base, { body })).body;
  expect(created.metadata.name).toMatch(/^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  expect(created.metadata.generateName).toBe('made-');
  expect(created.metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(created.metadata.creationTimestamp).not.toBe('2001-01-01T00:00:00Z');
});
