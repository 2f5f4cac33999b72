import { expect, test } from 'vitest';
import { admin, member } from '../fixture.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';

interface Package {
  readonly id: string;
  readonly onboardingState: string;
}

/** What Tacker answers, and with which status; `content` is sent as it is. */
async function asked(user: User, method: 'get' | 'post' | 'put' | 'delete', path: string, sent: object = {}) {
  const options = {
    raise_exc: false,
    endpoint_filter: { service_type: 'nfv-orchestration', interface: 'public' },
    ...sent,
  };
  const { status, text } = await user
    .connectedAnew()
    .call<{ status: number; text: string }>(`session.${method}`, path, options);
  // What is refused may be answered in words.
  return { status, body: (text === '' || status >= 400 ? undefined : JSON.parse(text)) as unknown };
}

const packages = '/vnfpkgm/v1/vnf_packages';

test('a package that is no archive is refused, a cloud is registered; both outlive that Tacker was disabled', async () => {
  const tacker = optionalService('tacker', 'tackers');
  await optionalService('heat', 'heats')({ enabled: true });
  await tacker({ enabled: true });
  const user = await member();
  const recorded = await asked(user, 'post', packages, { json: {} });
  expect(recorded).toMatchObject({ status: 201, body: { onboardingState: 'CREATED' } });
  const { id } = recorded.body as Package;
  const headers = { 'Content-Type': 'application/zip' };
  const sent = await asked(user, 'put', `${packages}/${id}/package_content`, { data: 'no archive', headers });
  expect(sent.status).toBe(202);
  await until({
    what: 'the conductor to give the package back',
    seconds: 60,
    probe: async () => {
      const { body } = await asked(user, 'get', `${packages}/${id}`);
      return (body as Package).onboardingState === 'CREATED' || undefined;
    },
  });
  const name = `${prefix}here`;
  const { username, password, project_name } = user.identity['auth'] as Record<string, string>;
  // Where pods reach it.
  const inside = { service_type: 'identity', interface: 'internal' };
  const vim = {
    name,
    type: 'openstack',
    auth_url: await admin.call<string>('session.get_endpoint', inside),
    auth_cred: { username, password, user_domain_name: 'Default' },
    vim_project: { name: project_name, project_domain_name: 'Default' },
  };
  const made = await asked(user, 'post', '/v1.0/vims', { json: { vim } });
  expect(made).toMatchObject({
    status: 201,
    body: { vim: { status: 'ACTIVE', auth_cred: { key_type: 'fernet_key' } } },
  });
  const path = `/v1.0/vims/${(made.body as { vim: { id: string } }).vim.id}`;
  await tacker({ enabled: false });
  await tacker({ enabled: true });
  expect(await asked(user, 'get', path)).toMatchObject({ status: 200, body: { vim: { name } } });
  expect((await asked(user, 'delete', path)).status).toBe(204);
  expect((await asked(user, 'delete', `${packages}/${id}`)).status).toBe(204);
});
