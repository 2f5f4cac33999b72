import { expect, onTestFinished, test } from 'vitest';
import { member, stranger } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';

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

test('enabled later, Barbican keeps secrets of a project and makes keys; disabled and enabled, it still has them', async () => {
  const { name, namespace } = (await controlPlane()).metadata;
  const state = async (enabled: boolean) => {
    const patch = JSON.stringify({ spec: { barbican: { enabled } } });
    await program('kubectl', '-n', namespace, 'patch', 'openstackcontrolplane', name, '--type', 'merge', '-p', patch);
    const ready = '{.items[*].status.conditions[?(@.type=="Ready")].status}';
    await until({
      what: `Barbican to be ${enabled ? 'Ready' : 'gone'}`,
      seconds: 240,
      probe: async () => {
        const found = await program('kubectl', '-n', namespace, 'get', 'barbicans', '-o', `jsonpath=${ready}`);
        return found === (enabled ? 'True' : '') || undefined;
      },
    });
  };
  onTestFinished(async () => {
    const patch = JSON.stringify({ spec: { barbican: null } });
    await program('kubectl', '-n', namespace, 'patch', 'openstackcontrolplane', name, '--type', 'merge', '-p', patch);
  });
  await state(true);
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
  await state(false);
  await state(true);
  expect(await asked(user, 'get', `${secret}/payload`)).toEqual({ status: 200, text: 'open sesame' });
});
