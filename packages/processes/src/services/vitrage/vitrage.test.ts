import { expect, it } from 'vitest';
import { type Changes, ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

/** Vitrage's API and graph on one host, without anything in the graph. */
async function running(change: Changes = {}) {
  const { world, token, container } = await ground(change);
  const host = container('vitrage');
  await host.run(['vitrage-dbsync']);
  host.start(['vitrage-api']);
  const graph = container('vitrage').start(['vitrage-graph']);
  await world.clock.advance(20_000);
  const send = async (method: string, path: string, body?: unknown) => {
    const reply = await request(world, 'vitrage', 8999, `/v1/${path}`, {
      method,
      headers: { 'x-auth-token': token },
      ...(body === undefined ? {} : { body }),
    });
    return { status: reply.status, body: JSON.parse(reply.body || 'null') as unknown };
  };
  return { send, graph };
}

const template = (version: unknown) => ({
  templates: [['one.yaml', { metadata: { version, name: 'one' } }]],
  template_type: 'standard',
});

it('takes versions of templates that are texts, and none that are numbers', async () => {
  const { send } = await running();
  expect((await send('POST', 'template', template('3'))).body).toMatchObject({
    results: [{ status: 'validation OK' }],
  });
  expect((await send('POST', 'template', template(3))).body).toMatchObject({
    results: [{ message: expect.stringContaining('Unsupported version') }],
  });
  expect((await send('PUT', 'template', template('3'))).body).toMatchObject([{ name: 'one', status: 'ACTIVE' }]);
});

it('tells of its processes only where they coordinate', async () => {
  const { send } = await running();
  expect(await send('GET', 'service')).toMatchObject({
    status: 500,
    body: { error: { message: 'Service API not supported' } },
  });
});

it('a source that no release has is told of, and the others are in the graph', async () => {
  const { send, graph } = await running({
    '/etc/vitrage/vitrage.conf': (text) => text.replace('types =', 'types = nova.cell'),
  });
  expect(graph.output()).toContain('run driver get_all: nova.cell Failed');
  expect((await send('GET', 'status')).body).toEqual({ reason: 'OK' });
});
