import { type ConfigMap as ConfigMapObject, defineKind } from '@openstack-operator/kube';
import { beforeAll, expect, test } from 'vitest';
import { newKind } from './definitions.ts';
import { stable, type TestServer, testServer } from './server.ts';

const ConfigMap = defineKind<ConfigMapObject>('v1', 'ConfigMap', 'configmaps');

let server: TestServer;
let namespace: string;
let base: string;
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
  base = `/api/v1/namespaces/${namespace}/configmaps`;
});

interface WireEvent {
  readonly type: string;
  readonly object: {
    kind?: string;
    metadata: { name?: string; annotations?: Record<string, string>; resourceVersion?: string };
  };
}

/** Reads a watch to its end: `timeoutSeconds` ends it on both servers. */
async function events(query: string, accept = 'application/json', collection = base): Promise<WireEvent[]> {
  const response = await server.transport.request({
    method: 'GET',
    path: `${collection}?watch=true&${query.includes('timeoutSeconds=') ? '' : 'timeoutSeconds=1&'}${query}`,
    headers: { accept },
    stream: true,
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  const lines = Buffer.concat(chunks).toString().split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as WireEvent);
}

const told = (list: WireEvent[]) => list.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`);

async function create(name: string, labels: Record<string, string> = {}): Promise<ConfigMapObject> {
  return server.client.create(ConfigMap, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels },
  });
}

async function version(): Promise<string> {
  return (await server.request('GET', base)).body.metadata.resourceVersion ?? '';
}

test('a watch from a version tells what came after it', async () => {
  const from = await version();
  await create('seen');
  await server.client.patch(ConfigMap, { namespace, name: 'seen' }, 'merge', { data: { a: '1' } });
  await server.client.delete(ConfigMap, { namespace, name: 'seen' });
  expect(told(await events(`resourceVersion=${from}`))).toEqual(['ADDED seen', 'MODIFIED seen', 'DELETED seen']);
});

test('a watch without a version begins with what is there', async () => {
  await create('present');
  expect(told(await events('fieldSelector=metadata.name=present'))).toEqual(['ADDED present']);
  expect(told(await events('fieldSelector=metadata.name=present&resourceVersion=0'))).toEqual(['ADDED present']);
});

test('initial events end with a marked bookmark', async () => {
  await create('initial', { list: 'yes' });
  const list = await events(
    'labelSelector=list=yes&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
  );
  expect(told(list).slice(0, 2)).toEqual(['ADDED initial', 'BOOKMARK ']);
  const { resourceVersion, ...metadata } = list[1]?.object.metadata ?? {};
  expect([list[1]?.object.kind, metadata, Number(resourceVersion) > 0]).toMatchInlineSnapshot(`
    [
      "ConfigMap",
      {
        "annotations": {
          "k8s.io/initial-events-end": "true",
        },
      },
      true,
    ]
  `);
});

test('a watch that ends tells how far it came, when asked to', async () => {
  const from = await version();
  const watching = events(`resourceVersion=${from}&timeoutSeconds=5&allowWatchBookmarks=true`);
  // A real server has nothing to tell when nothing happened to the kind anywhere.
  const metadata = { name: 'elsewhere', namespace: await server.namespace() };
  const elsewhere = await server.client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
  const last = (await watching).at(-1);
  expect([last?.type, Object.keys(last?.object ?? {}).sort(), Object.keys(last?.object.metadata ?? {})]).toEqual([
    'BOOKMARK',
    ['apiVersion', 'kind', 'metadata'],
    ['resourceVersion'],
  ]);
  const reached = Number(last?.object.metadata.resourceVersion);
  expect(reached).toBeGreaterThanOrEqual(Number(elsewhere.metadata.resourceVersion));
});

test('what comes into a selection is added, what leaves it is deleted', async () => {
  await create('moves');
  const from = await version();
  const label = (app: string | null) =>
    server.client.patch(ConfigMap, { namespace, name: 'moves' }, 'merge', { metadata: { labels: { app } } });
  await label('x');
  await server.client.patch(ConfigMap, { namespace, name: 'moves' }, 'merge', { data: { a: '1' } });
  const last = await label(null);
  const list = await events(`resourceVersion=${from}&labelSelector=app=x`);
  expect(told(list)).toEqual(['ADDED moves', 'MODIFIED moves', 'DELETED moves']);
  const deleted = list[2]?.object as unknown as ConfigMapObject;
  expect([deleted.metadata.labels, deleted.metadata.resourceVersion]).toEqual([
    { app: 'x' },
    last.metadata.resourceVersion,
  ]);
});

test('a version that is forgotten ends the watch', async () => {
  const { path } = await newKind(server);
  const list = await events('resourceVersion=1', undefined, path());
  const first = list[0] as unknown as { type: string; object: { message: string } };
  const object = { ...first.object, message: first.object.message.replaceAll(/\d+/g, '<n>') };
  expect([list.length, first.type, object]).toMatchInlineSnapshot(`
    [
      1,
      "ERROR",
      {
        "apiVersion": "v1",
        "code": 410,
        "kind": "Status",
        "message": "too old resource version: <n> (<n>)",
        "metadata": {},
        "reason": "Expired",
        "status": "Failure",
      },
    ]
  `);
});

test('wrong options are refused', async () => {
  const answers = [];
  for (const query of [
    'sendInitialEvents=true',
    'resourceVersionMatch=NotOlderThan',
    'sendInitialEvents=true&resourceVersionMatch=Exact',
    'resourceVersion=abc',
    'labelSelector=%3D',
  ]) {
    const { status, body } = await server.request('GET', `${base}?watch=true&timeoutSeconds=1&${query}`);
    answers.push([query, status, body.message]);
  }
  expect(answers).toMatchInlineSnapshot(`
    [
      [
        "sendInitialEvents=true",
        422,
        "ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
      ],
      [
        "resourceVersionMatch=NotOlderThan",
        422,
        "ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      ],
      [
        "sendInitialEvents=true&resourceVersionMatch=Exact",
        422,
        "ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]",
      ],
      [
        "resourceVersion=abc",
        500,
        "resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax",
      ],
      [
        "labelSelector=%3D",
        400,
        "found '=', expected: !, identifier, or 'end of string'",
      ],
    ]
  `);
});

test('one object may be watched by its name', async () => {
  await create('named');
  const path = `/api/v1/namespaces/${namespace}/configmaps/named?watch=true&timeoutSeconds=1`;
  const { body } = await server.request('GET', path);
  expect(stable([body as unknown].flat().length)).toBe(1);
});

test('a watch as metadata carries metadata alone', async () => {
  await create('bare');
  const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  const [first] = await events('fieldSelector=metadata.name=bare', accept);
  expect([first?.type, first?.object.kind, Object.keys(first?.object ?? {}).sort()]).toMatchInlineSnapshot(`
    [
      "ADDED",
      "PartialObjectMetadata",
      [
        "apiVersion",
        "kind",
        "metadata",
      ],
    ]
  `);
});

test('a watch as table names its columns once', async () => {
  await create('row1', { table: 'yes' });
  await create('row2', { table: 'yes' });
  const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
  const list = (await events('labelSelector=table=yes', accept)) as unknown as {
    type: string;
    object: { columnDefinitions: { name: string }[] | null; rows: { cells: unknown[] }[] };
  }[];
  expect(
    list.map(({ type, object }) => [
      type,
      object.columnDefinitions?.map(({ name }) => name),
      object.rows.map(({ cells }) => cells.slice(0, 2)),
    ]),
  ).toMatchInlineSnapshot(`
    [
      [
        "ADDED",
        [
          "Name",
          "Data",
          "Age",
        ],
        [
          [
            "row1",
            0,
          ],
        ],
      ],
      [
        "ADDED",
        undefined,
        [
          [
            "row2",
            0,
          ],
        ],
      ],
    ]
  `);
});
