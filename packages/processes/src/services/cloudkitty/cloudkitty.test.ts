import { expect, it } from 'vitest';
import { type Changes, ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

/** CloudKitty's API and processor on one host, with a database that is ready. */
async function running(change: Changes = {}) {
  const { world, token, container } = await ground(change);
  const host = container('cloudkitty');
  await host.run(['cloudkitty-dbsync', 'upgrade']);
  await host.run(['cloudkitty-storage-init']);
  const api = host.start(['uwsgi', '--ini', '/cloudkitty.ini']);
  const processor = container('cloudkitty').start(['cloudkitty-processor']);
  await world.clock.advance(15_000);
  const send = async (method: string, path: string, body?: unknown) => {
    const reply = await request(world, 'cloudkitty', 8889, path, { method, headers: { 'x-auth-token': token }, body });
    return { status: reply.status, body: JSON.parse(reply.body || 'null') as unknown };
  };
  return { send, api, processor };
}

it('quotes nothing before a rule is enabled, and has no second version of its API', async () => {
  const { send } = await running();
  const quote = { resources: [{ service: 'instance', volume: '4' }] };
  expect(await send('POST', '/v1/rating/quote', quote)).toEqual({ status: 200, body: '0' });
  expect((await send('GET', '/v2/summary')).status).toBe(404);
  expect((await send('GET', '/v1/rating/modules/nosuch')).status).toBe(404);
});

const mistakes: readonly (readonly [string, Changes, 'api' | 'processor', string])[] = [
  ['no file of its pipeline', { '/etc/cloudkitty/api_paste.ini': () => '' }, 'api', "No section 'cloudkitty+keystone'"],
  [
    'no metrics',
    { '/etc/cloudkitty/metrics.yml': () => 'metrics: {}' },
    'processor',
    'Not a dict with at least one key',
  ],
  [
    'a metric without a resource',
    { '/etc/cloudkitty/metrics.yml': () => 'metrics: {cpu: {unit: instance}}' },
    'processor',
    'required key not provided',
  ],
  [
    'a storage that the version has not',
    { '/etc/cloudkitty/cloudkitty.conf': (text) => text.replace('= sqlalchemy', '= influxdb') },
    'processor',
    "No 'cloudkitty.storage.v1.backends' driver found, looking for 'influxdb'",
  ],
];

it.each(mistakes)('%s is told', async (_what, change, program, words) => {
  const { [program]: started } = await running(change);
  expect(started.output()).toContain(words);
});
