import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { admin } from '../fixture.ts';
import { prefix } from '../running-cloud.ts';
import { optionalService } from './optional-service.ts';

/** What CloudKitty answers its administrator, and with which status. */
async function asked(method: 'get' | 'post' | 'put', path: string, json?: unknown) {
  const options = {
    raise_exc: false,
    redirect: false,
    endpoint_filter: { service_type: 'rating', interface: 'public' },
    ...(json === undefined ? {} : { json }),
  };
  const { status, text } = await admin
    .connectedAnew()
    .call<{ status: number; text: string }>(`session.${method}`, path, options);
  // What it has no path for is answered by a page of HTML.
  return { status, body: (text === '' || status === 404 ? undefined : JSON.parse(text)) as Record<string, unknown> };
}

test('a processor tells what something costs by a rule, and the rule outlives that CloudKitty was disabled', async () => {
  const [gnocchi, cloudKitty] = [optionalService('gnocchi', 'gnocchis'), optionalService('cloudKitty', 'cloudkitties')];
  await gnocchi({ enabled: true });
  await cloudKitty({ enabled: true });
  const module = { module_id: 'hashmap', enabled: true, priority: 1 };
  expect((await asked('put', '/v1/rating/modules/hashmap', module)).status).toBe(302);
  const hashmap = '/v1/rating/module_config/hashmap';
  // The rules of an earlier run are still there.
  const name = `${prefix}${randomUUID()}`;
  const { body: service } = await asked('post', `${hashmap}/services`, { name });
  const mapping = { service_id: service['service_id'], cost: '0.5', type: 'flat' };
  expect((await asked('post', `${hashmap}/mappings`, mapping)).status).toBe(201);
  const quote = { resources: [{ service: name, volume: '4', desc: {} }] };
  const quoted = async () => Number((await asked('post', '/v1/rating/quote', quote)).body);
  expect(await quoted()).toBe(2);
  expect((await asked('get', '/v2/summary')).status).toBe(404);
  await cloudKitty({ enabled: false });
  await cloudKitty({ enabled: true });
  expect(await quoted()).toBe(2);
});
