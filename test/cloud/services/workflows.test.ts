import { expect, test } from 'vitest';
import { member } from '../fixture.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';

/** What Mistral answers, and with which status. */
async function asked(user: User, method: 'get' | 'post' | 'delete', path: string, options: object = {}) {
  const all = { raise_exc: false, ...options };
  const { status, text } = await user.call<{ status: number; text: string }>(`workflow.${method}`, path, all);
  return { status, text };
}

const name = `${prefix}workflow`;
const definition = `version: '2.0'
${name}:
  input: [who]
  output:
    said: <% task(greet).result %>
  tasks:
    greet:
      action: std.echo output="Hello <% $.who %>"
`;

/** What the workflow says, once it has succeeded. */
async function said(user: User, who: string): Promise<unknown> {
  const json = { workflow_name: name, input: { who } };
  const made = await asked(user, 'post', '/executions', { json });
  expect(made).toMatchObject({ status: 201 });
  const { id } = JSON.parse(made.text) as { id: string };
  return until({
    what: 'a workflow to succeed',
    seconds: 60,
    probe: async () => {
      const { text } = await asked(user, 'get', `/executions/${id}`);
      const { state, state_info: info, output } = JSON.parse(text) as Record<'state' | 'state_info' | 'output', string>;
      if (state === 'ERROR') throw new Error(info);
      return state === 'SUCCESS' ? (JSON.parse(output) as { said: unknown }).said : undefined;
    },
  });
}

test('a workflow runs, a trigger is made by a trust, and both are there after Mistral was disabled', async () => {
  const mistral = optionalService('mistral', 'mistrals');
  await mistral({ enabled: true });
  const user = (await member()).connectedAnew();
  const headers = { 'Content-Type': 'text/plain', Accept: '*/*' };
  expect(await asked(user, 'post', '/workflows', { data: definition, headers })).toMatchObject({ status: 201 });
  expect(await said(user, 'you')).toBe('Hello you');
  const code = { data: 'secrets = open("/proc/self/environ").read()', headers };
  expect((await asked(user, 'post', '/code_sources?name=mine', code)).status).toBe(403);
  const trigger = { name, workflow_name: name, workflow_input: '{"who": "me"}', pattern: '0 2 1 1 *' };
  expect(await asked(user, 'post', '/cron_triggers', { json: trigger })).toMatchObject({ status: 201 });
  await mistral({ enabled: false });
  await mistral({ enabled: true });
  expect(await said(user, 'again')).toBe('Hello again');
  expect((await asked(user, 'delete', `/cron_triggers/${name}`)).status).toBe(204);
  expect((await asked(user, 'delete', `/workflows/${name}`)).status).toBe(204);
});
