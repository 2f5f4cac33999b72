import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';
import { ask, login } from './keystone.ts';

// What users expect of any cloud, and what a setting that is left out takes away.

let cloud: Cloud;
let token: string;

beforeAll(async () => {
  ({ cloud } = await readyCloud());
  token = await login(cloud);
});
afterAll(() => cloud.rehearsal.stop());

test('an application credential is made, and logs in with the secret of 86 characters that Keystone gives it', async () => {
  const keystone = 'http://my-cloud-keystone-api:5000/v3';
  const { users } = JSON.parse(await ask(cloud, token, `${keystone}/users?name=admin`)) as { users: { id: string }[] };
  const { projects } = JSON.parse(await ask(cloud, token, `${keystone}/projects?name=admin`)) as {
    projects: { id: string }[];
  };
  const made = JSON.parse(
    await ask(cloud, token, `${keystone}/users/${users[0]?.id}/application_credentials`, {
      application_credential: { name: 'robot', project_id: projects[0]?.id },
    }),
  ) as { application_credential: { id: string; secret: string } };
  const { id, secret } = made.application_credential;
  expect(secret).toHaveLength(86);
  const credential = (given: string) => ({
    auth: { identity: { methods: ['application_credential'], application_credential: { id, secret: given } } },
  });
  expect(await ask(cloud, token, `${keystone}/auth/tokens`, credential(secret))).toContain('application_credential');
  // All of it counts: an algorithm that looks at 72 bytes would take this one as well.
  expect(await ask(cloud, token, `${keystone}/auth/tokens`, credential(`${secret.slice(0, 80)}000000`))).toContain(
    'requires authentication',
  );
});

test('an application credential with access rules may do what they say, and nothing else', async () => {
  const keystone = 'http://my-cloud-keystone-api:5000/v3';
  const [{ id: user } = { id: '' }] = (
    JSON.parse(await ask(cloud, token, `${keystone}/users?name=admin`)) as { users: { id: string }[] }
  ).users;
  const [{ id: project } = { id: '' }] = (
    JSON.parse(await ask(cloud, token, `${keystone}/projects?name=admin`)) as { projects: { id: string }[] }
  ).projects;
  const made = JSON.parse(
    await ask(cloud, token, `${keystone}/users/${user}/application_credentials`, {
      application_credential: {
        name: 'reader',
        project_id: project,
        access_rules: [{ service: 'image', method: 'GET', path: '/v2/images' }],
      },
    }),
  ) as { application_credential: { id: string; secret: string } };
  const { id, secret } = made.application_credential;
  const restricted = await login(cloud, {
    identity: { methods: ['application_credential'], application_credential: { id, secret } },
  });
  expect(await ask(cloud, restricted, 'http://my-cloud-glance-api:9292/v2/images')).toContain('"images"');
  for (const other of ['my-cloud-glance-api:9292/v2/tasks', 'my-cloud-neutron-server:9696/v2.0/networks'])
    expect(await ask(cloud, restricted, `http://${other}`)).toContain('401');
});

test('Glance has metadata definitions', async () => {
  const answer = await ask(cloud, token, 'http://my-cloud-glance-api:9292/v2/metadefs/namespaces');
  expect(answer).toContain('OS::Compute::Libvirt');
});

test.each(['qos', 'trunk', 'floating-ip-port-forwarding', 'segment', 'logging', 'port-security'])(
  'Neutron has the extension %s',
  async (alias) => {
    const answer = await ask(cloud, token, 'http://my-cloud-neutron-server:9696/v2.0/extensions');
    const { extensions } = JSON.parse(answer) as { extensions: { alias: string }[] };
    expect(extensions.map((one) => one.alias)).toContain(alias);
  },
);
