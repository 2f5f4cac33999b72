import { expect, test } from 'vitest';
import { member, stranger } from '../fixture.ts';
import { prefix, type User } from '../running-cloud.ts';
import { optionalService } from './optional-service.ts';

/** What Freezer answers, and with which status. */
async function asked(user: User, method: 'get' | 'post' | 'delete', path: string, json?: unknown) {
  const filter = { service_type: 'backup', interface: 'public' };
  const options = { raise_exc: false, endpoint_filter: filter, ...(json === undefined ? {} : { json }) };
  const { status, text } = await user.call<{ status: number; text: string }>(`session.${method}`, path, options);
  return { status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}

test('a job of a plain user is there for its scheduler, also after Freezer was disabled', async () => {
  // No scheduler runs here: nothing is written anywhere.
  const set = optionalService('freezer', 'freezers');
  const freezer = (enabled: boolean) => set({ enabled, storageBackend: 'local' });
  await freezer(true);
  const user = await member();
  const url = `/v2/${user.projectId}`;
  const client = `${prefix}host`;
  const registered = { status: 201, body: { client_id: client } };
  expect(await asked(user, 'post', `${url}/clients`, { client_id: client, hostname: client })).toEqual(registered);
  const made = await asked(user, 'post', `${url}/jobs`, {
    client_id: client,
    job_actions: [{ freezer_action: { action: 'backup', mode: 'fs', path_to_backup: '/etc', storage: 'local' } }],
    job_schedule: { schedule_interval: '1 days' },
  });
  expect(made.status).toBe(201);
  const job = `${url}/jobs/${(made.body as { job_id: string }).job_id}`;
  const started = { status: 202, body: { result: 'success' } };
  expect(await asked(user, 'post', `${job}/event`, { start: null })).toEqual(started);

  await freezer(false);
  await freezer(true);

  const scheduled = { client_id: client, job_schedule: { event: 'start', schedule_interval: '1 days' } };
  expect(await asked(user, 'get', job)).toMatchObject({ status: 200, body: scheduled });
  expect((await asked(await stranger(), 'get', job)).status).toBe(404);
  expect((await asked(user, 'delete', job)).status).toBe(204);
  expect((await asked(user, 'delete', `${url}/clients/${client}`)).status).toBe(204);
});
