import { expect, test } from 'vitest';
import { admin } from '../fixture.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';

interface State {
  readonly uuid: string;
  readonly state: string;
}

/** What Watcher answers. The SDK knows no such service: it is asked by the endpoint of the catalogue. */
async function asked<T>(user: User, method: 'GET' | 'POST', path: string, json?: object): Promise<T> {
  const filter = { service_type: 'infra-optim', interface: 'public' };
  const headers = { 'OpenStack-API-Version': 'infra-optim 1.3' };
  const options = { endpoint_filter: filter, headers, ...(json === undefined ? {} : { json }) };
  const { text } = await user.call<{ text: string }>('session.request', `/v1${path}`, method, options);
  return JSON.parse(text) as T;
}

async function ended(user: User, path: string): Promise<State> {
  return until({
    what: `${path} to succeed`,
    seconds: 120,
    probe: async () => {
      const found = await asked<State>(user, 'GET', path);
      if (['FAILED', 'CANCELLED'].includes(found.state)) throw new Error(`${path} is ${found.state}`);
      return found.state === 'SUCCEEDED' ? found : undefined;
    },
  });
}

test('an audit ends with an action plan that is carried out, and Watcher sees the hosts; both outlive that it was disabled', async () => {
  const watcher = optionalService('watcher', 'watchers');
  await watcher({ enabled: true });
  const user = admin.connectedAnew();
  const made = await asked<State>(user, 'POST', '/audits', {
    audit_type: 'ONESHOT',
    goal: 'dummy',
    name: `${prefix}audit`,
  });
  const audit = `/audits/${made.uuid}`;
  await ended(user, audit);
  const { action_plans: plans } = await asked<{ action_plans: State[] }>(
    user,
    'GET',
    `/action_plans?audit_uuid=${made.uuid}`,
  );
  expect(plans).toMatchObject([{ state: 'RECOMMENDED' }]);
  const plan = `/action_plans/${plans[0]?.uuid}`;
  await asked(user, 'POST', `${plan}/start`, {});
  await ended(user, plan);
  const { context } = await asked<{ context: { node_hostname?: string }[] }>(user, 'GET', '/data_model');
  expect(context).toContainEqual(expect.objectContaining({ node_hostname: expect.any(String) }));
  await watcher({ enabled: false });
  await watcher({ enabled: true });
  expect((await ended(user, plan)).state).toBe('SUCCEEDED');
});
