import { beforeAll, expect, test } from 'vitest';
import { stable, type TestServer, testServer } from './server.ts';

let server: TestServer;
let namespace: string;
let base: string;
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
  base = `/api/v1/namespaces/${namespace}/configmaps`;
  for (const name of ['a', 'b']) {
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels: { t: 'yes' } },
      data: { x: '1', y: '2' },
    };
    await server.request('POST', base, { body });
  }
});

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

test('a list is a table when asked for', async () => {
  const { body } = await server.request('GET', `${base}?labelSelector=t=yes&limit=1`, { accept: table });
  const { columnDefinitions, rows, metadata, ...rest } = body as unknown as {
    columnDefinitions: { name: string; type: string; format: string; priority: number }[];
    rows: { cells: unknown[]; object: { metadata: object } }[];
    metadata: object;
  };
  const columns = columnDefinitions.map(({ name, type, format, priority }) => [name, type, format, priority]);
  const cells = rows.map((row) => [row.cells.slice(0, 2), Object.keys(row.object), Object.keys(row)]);
  expect([rest, Object.keys(metadata).sort(), columns, cells]).toMatchInlineSnapshot(`
    [
      {
        "apiVersion": "meta.k8s.io/v1",
        "kind": "Table",
      },
      [
        "continue",
        "resourceVersion",
      ],
      [
        [
          "Name",
          "string",
          "name",
          0,
        ],
        [
          "Data",
          "string",
          "",
          0,
        ],
        [
          "Age",
          "string",
          "",
          0,
        ],
      ],
      [
        [
          [
            "a",
            2,
          ],
          [
            "kind",
            "apiVersion",
            "metadata",
          ],
          [
            "cells",
            "object",
          ],
        ],
      ],
    ]
  `);
});

test('rows carry what was asked for', async () => {
  const rows = async (query: string) => {
    const { body } = await server.request('GET', `${base}/a?${query}`, { accept: table });
    const [row] = body.rows ?? [];
    return [Object.keys(row ?? {}), row?.object?.kind];
  };
  expect([
    await rows('includeObject=None'),
    await rows('includeObject=Metadata'),
    await rows('includeObject=Object'),
  ]).toMatchInlineSnapshot(`
    [
      [
        [
          "cells",
          "object",
        ],
        undefined,
      ],
      [
        [
          "cells",
          "object",
        ],
        "PartialObjectMetadata",
      ],
      [
        [
          "cells",
          "object",
        ],
        "ConfigMap",
      ],
    ]
  `);
});

test('metadata comes alone when asked for', async () => {
  const one = await server.request('GET', `${base}/a`, {
    accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  });
  expect([one.body.kind, one.body.apiVersion, Object.keys(one.body).sort()]).toMatchInlineSnapshot(`
    [
      "PartialObjectMetadata",
      "meta.k8s.io/v1",
      [
        "apiVersion",
        "kind",
        "metadata",
      ],
    ]
  `);
  const list = await server.request('GET', `${base}?labelSelector=t=yes`, {
    accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  });
  expect([list.body.kind, list.body.items?.map((item) => Object.keys(item).sort())]).toMatchInlineSnapshot(`
    [
      "PartialObjectMetadataList",
      [
        [
          "apiVersion",
          "kind",
          "metadata",
        ],
        [
          "apiVersion",
          "kind",
          "metadata",
        ],
      ],
    ]
  `);
});

test('a client that would rather have protobuf takes JSON', async () => {
  const accept =
    'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
  const { body } = await server.request('GET', `${base}/a`, { accept });
  expect(stable(body.kind)).toBe('Table');
});
