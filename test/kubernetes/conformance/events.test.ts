import { beforeAll, expect, test } from 'vitest';
import { stable, type TestServer, testServer } from './server.ts';

let server: TestServer;
let namespace: string;
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
});

test('an event is one thing in two groups', async () => {
  const regarding = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', namespace };
  const event = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'one' },
    eventTime: '2026-01-01T00:00:00.000000Z',
    regarding,
    reason: 'Tested',
    note: 'it was tested',
    type: 'Normal',
    action: 'Testing',
    reportingController: 'example.com/tester',
    reportingInstance: 'tester-1',
  };
  const created = await server.request('POST', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`, {
    body: event,
  });
  expect(stable([created.status, { ...created.body, metadata: undefined }], namespace)).toMatchInlineSnapshot(`
    [
      201,
      {
        "action": "Testing",
        "apiVersion": "events.k8s.io/v1",
        "deprecatedFirstTimestamp": null,
        "deprecatedLastTimestamp": null,
        "deprecatedSource": {},
        "eventTime": "<time>",
        "kind": "Event",
        "note": "it was tested",
        "reason": "Tested",
        "regarding": {
          "apiVersion": "v1",
          "kind": "ConfigMap",
          "name": "x",
          "namespace": "<name>",
        },
        "reportingController": "example.com/tester",
        "reportingInstance": "tester-1",
        "type": "Normal",
      },
    ]
  `);
  const core = await server.request('GET', `/api/v1/namespaces/${namespace}/events/one`);
  expect(stable({ ...core.body, metadata: undefined }, namespace)).toMatchInlineSnapshot(`
    {
      "action": "Testing",
      "apiVersion": "v1",
      "eventTime": "<time>",
      "firstTimestamp": null,
      "involvedObject": {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "x",
        "namespace": "<name>",
      },
      "kind": "Event",
      "lastTimestamp": null,
      "message": "it was tested",
      "reason": "Tested",
      "reportingComponent": "example.com/tester",
      "reportingInstance": "tester-1",
      "source": {},
      "type": "Normal",
    }
  `);
  const found = await server.request(
    'GET',
    `/api/v1/namespaces/${namespace}/events?fieldSelector=involvedObject.name=x,reason=Tested`,
  );
  expect(found.body.items?.length).toBe(1);
  const same = await server.request(
    'GET',
    `/apis/events.k8s.io/v1/namespaces/${namespace}/events?fieldSelector=regarding.name=x`,
  );
  expect([
    same.status,
    same.body.message ?? same.body.items?.map(({ metadata }) => metadata.name),
  ]).toMatchInlineSnapshot(`
    [
      200,
      [
        "one",
      ],
    ]
  `);
});
