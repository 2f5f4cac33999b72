import { expect, test } from 'vitest';
import { admin } from '../fixture.ts';
import { prefix, User } from '../running-cloud.ts';
import { optionalService } from './optional-service.ts';

/** What Adjutant answers, and with which status. */
async function asked(user: User, method: 'get' | 'post', path: string, json?: unknown) {
  const filter = { service_type: 'admin-logic', interface: 'public' };
  const options = { raise_exc: false, endpoint_filter: filter, ...(json === undefined ? {} : { json }) };
  const { status, text } = await user
    .connectedAnew()
    .call<{ status: number; text: string }>(`session.${method}`, path, options);
  // What it has no path for is answered by a page of HTML.
  return {
    status,
    body: JSON.parse(status === 404 ? '{}' : text) as Readonly<Record<string, Readonly<Record<string, unknown>>[]>>,
  };
}

test('whoever is invited sets a password and manages the project, and the task outlives that Adjutant was disabled', async () => {
  const adjutant = optionalService('adjutant', 'adjutants');
  await adjutant({ enabled: true });
  const email = `${prefix}ann@example.com`;
  const invitation = { email, roles: ['member', 'project_mod'] };
  expect((await asked(admin, 'post', '/openstack/users', invitation)).status).toBe(202);

  // It would stand in a mail; no server of mails is known here.
  const { body: tokens } = await asked(admin, 'get', '/tokens');
  const password = `${prefix}password`;
  const [{ token } = {}] = tokens['tokens'] ?? [];
  expect((await asked(admin, 'post', `/tokens/${String(token)}`, { password })).status).toBe(200);

  const auth = { username: email, password, project_name: 'admin' };
  const ann = new User({ ...admin.identity, auth });
  const { body: users } = await asked(ann, 'get', '/openstack/users');
  const names = users['users']?.map(({ name }) => name);
  expect(names).toContain(email);
  expect(names).not.toContain('admin');

  await adjutant({ enabled: false });
  await adjutant({ enabled: true, enableSignup: false });
  const { body: tasks } = await asked(admin, 'get', '/tasks');
  expect(tasks['tasks']?.[0]).toMatchObject({ task_type: 'invite_user_to_project', completed: true });
  expect((await asked(admin, 'post', '/openstack/sign-up', { email, project_name: prefix })).status).toBe(404);
});
