import { expect, test } from 'vitest';
import { admin, member, stranger } from '../fixture.ts';
import { prefix, User } from '../running-cloud.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';

type Made = { readonly id: string };

/** What Barbican answers, and with which status. */
async function asked(user: User, method: 'get' | 'post', path: string, json?: object) {
  const options = { raise_exc: false, ...(json === undefined ? { headers: { Accept: '*/*' } } : { json }) };
  const { status, text } = await user.call<{ status: number; text: string }>(`key_manager.${method}`, path, options);
  return { status, text };
}

/** The path of what an answer refers to, below the version that the SDK has found. */
function reference({ text }: { readonly text: string }, field: string): string {
  return new URL((JSON.parse(text) as Record<string, string>)[field] ?? '').pathname.replace('/v1', '');
}

/** What a project has stored goes with it, as Keystone tells Barbican. */
async function deletedWithItsProject(): Promise<void> {
  const { identity } = await member();
  const auth = identity['auth'] as { readonly username: string };
  const name = `${prefix}doomed`;
  const [{ id }, { id: userId }, role] = await Promise.all([
    admin.call<Made>('identity.create_project', { name, domain_id: 'default' }),
    admin.call<Made>('identity.find_user', auth.username),
    admin.call<Made>('identity.find_role', 'member'),
  ]);
  await admin.call('identity.assign_project_role_to_user', id, userId, role.id);
  const doomed = new User({ ...identity, auth: { ...auth, project_name: name } });
  const body = { payload: 'open sesame', payload_content_type: 'text/plain' };
  const secret = reference(await asked(doomed, 'post', '/secrets', body), 'secret_ref');
  expect((await asked(admin, 'get', secret)).status).not.toBe(404);
  await admin.call('identity.delete_project', id);
  await until({
    what: 'the secret to go with its project',
    seconds: 60,
    probe: async () => (await asked(admin, 'get', secret)).status === 404 || undefined,
  });
}

test('enabled later, Barbican keeps secrets of a project and makes keys; disabled and enabled, it still has them', async () => {
  const barbican = optionalService('barbican', 'barbicans');
  await barbican({ enabled: true });
  const [user, other] = await Promise.all([member(), stranger()]);
  const secret = reference(
    await asked(user, 'post', '/secrets', {
      name: `${prefix}secret`,
      payload: 'open sesame',
      payload_content_type: 'text/plain',
    }),
    'secret_ref',
  );
  expect(await asked(user, 'get', `${secret}/payload`)).toEqual({ status: 200, text: 'open sesame' });
  expect((await asked(other, 'get', `${secret}/payload`)).status).toBe(403);
  const order = reference(
    await asked(user, 'post', '/orders', {
      type: 'key',
      meta: {
        name: `${prefix}key`,
        algorithm: 'aes',
        bit_length: 256,
        payload_content_type: 'application/octet-stream',
      },
    }),
    'order_ref',
  );
  await until({
    what: 'the key that was ordered',
    seconds: 30,
    probe: async () => (await asked(user, 'get', order)).text.includes('"ACTIVE"') || undefined,
  });
  await deletedWithItsProject();
  await barbican({ enabled: false });
  await barbican({ enabled: true });
  expect(await asked(user, 'get', `${secret}/payload`)).toEqual({ status: 200, text: 'open sesame' });
});
