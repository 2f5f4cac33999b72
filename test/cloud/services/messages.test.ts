import { expect, test } from 'vitest';
import { member } from '../fixture.ts';
import { deletePod, podOf, replaced } from '../pods.ts';
import { prefix, type User } from '../running-cloud.ts';
import { optionalService } from './optional-service.ts';

/** Zaqar tells its clients by it: none is given its own messages unless it asks. */
const client = { 'Client-ID': '5f0e1f4c-53c6-4a3c-9a53-8a5d7d1c7a10' };

/** What Zaqar answers, and with which status. */
async function asked(user: User, method: 'get' | 'post' | 'put' | 'delete', path: string, json?: unknown) {
  const filter = { service_type: 'messaging', interface: 'public' };
  const options = { raise_exc: false, endpoint_filter: filter, headers: client };
  const body = json === undefined ? options : { ...options, json };
  const { status, text } = await user.call<{ status: number; text: string }>(`session.${method}`, path, body);
  return { status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}

test('messages of a plain user outlive the pod of the store, and that Zaqar was disabled', async () => {
  const zaqar = optionalService('zaqar', 'zaqars');
  await zaqar({ enabled: true });
  const user = await member();
  const queue = `/v2/queues/${prefix}jobs`;
  expect((await asked(user, 'put', queue, {})).status).toBe(201);
  const messages = ['one', 'two'].map((body) => ({ ttl: 3600, body }));
  expect((await asked(user, 'post', `${queue}/messages`, { messages })).status).toBe(201);

  const selector = 'app.kubernetes.io/name=zaqar,app.kubernetes.io/component=store';
  const store = await podOf(selector);
  await deletePod(store);
  await replaced(selector, store, 120);
  await zaqar({ enabled: false });
  await zaqar({ enabled: true });

  const claimed = await asked(user, 'post', `${queue}/claims`, { ttl: 300, grace: 300 });
  expect(claimed).toMatchObject({ status: 201, body: { messages: [{ body: 'one' }, { body: 'two' }] } });
  // While they are claimed nobody else is given them.
  expect((await asked(user, 'post', `${queue}/claims`, { ttl: 300, grace: 300 })).status).toBe(204);
  expect((await asked(user, 'delete', queue)).status).toBe(204);
});
