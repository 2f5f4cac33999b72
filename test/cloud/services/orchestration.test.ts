import { expect, test } from 'vitest';
import { guestImage, member, tiny } from '../fixture.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';

interface Stack {
  readonly id: string;
  readonly stack_status: string;
  readonly stack_status_reason: string;
  readonly outputs?: readonly { readonly output_key: string; readonly output_value: unknown }[];
}

/** What Heat answers, and with which status. */
async function asked(user: User, method: 'get' | 'post' | 'put' | 'delete', path: string, json?: object) {
  const options = { raise_exc: false, ...(json === undefined ? {} : { json }) };
  const { status, text } = await user.call<{ status: number; text: string }>(`orchestration.${method}`, path, options);
  return { status, text };
}

/** A network, a server in it, and what a wait condition was told. */
function template(length: number, image: string, flavor: string) {
  const reference = (resource: string) => ({ get_resource: resource });
  return {
    heat_template_version: '2021-04-16',
    resources: {
      network: { type: 'OS::Neutron::Net' },
      subnet: { type: 'OS::Neutron::Subnet', properties: { network: reference('network'), cidr: '10.60.0.0/24' } },
      port: {
        type: 'OS::Neutron::Port',
        depends_on: ['subnet'],
        properties: { network: reference('network') },
      },
      server: {
        type: 'OS::Nova::Server',
        properties: { image, flavor, networks: [{ port: reference('port') }] },
      },
      word: { type: 'OS::Heat::RandomString', properties: { length } },
      handle: { type: 'OS::Heat::WaitConditionHandle' },
    },
    outputs: {
      word: { value: { get_attr: ['word', 'value'] } },
      endpoint: { value: { get_attr: ['handle', 'endpoint'] } },
    },
  };
}

test('a stack with a network and a server is made, changed and deleted; it outlives that Heat was disabled', async () => {
  const heat = optionalService('heat', 'heats');
  await heat({ enabled: true });
  const [known, image, flavor] = await Promise.all([member(), guestImage(), tiny()]);
  const user = known.connectedAnew();
  const name = `${prefix}stack`;
  const body = (length: number) => ({ template: template(length, image, flavor), timeout_mins: 10 });
  const made = await asked(user, 'post', '/stacks', { stack_name: name, ...body(12) });
  expect(made).toMatchObject({ status: 201 });
  const path = `/stacks/${name}/${(JSON.parse(made.text) as { stack: Stack }).stack.id}`;
  const ends = (action: string) =>
    until({
      what: `the stack to be ${action}_COMPLETE`,
      seconds: 600,
      probe: async () => {
        const { stack } = JSON.parse((await asked(user, 'get', path)).text) as { stack: Stack };
        if (stack.stack_status.endsWith('_FAILED')) throw new Error(stack.stack_status_reason);
        return stack.stack_status === `${action}_COMPLETE` ? stack : undefined;
      },
    });
  const { outputs = [] } = await ends('CREATE');
  expect(outputs).toContainEqual(expect.objectContaining({ output_key: 'word', output_value: expect.any(String) }));
  // Its handle has a user in the stack's project, who may signal and nothing else.
  expect(outputs).toContainEqual(
    expect.objectContaining({ output_key: 'endpoint', output_value: expect.stringContaining('/signal') }),
  );
  await heat({ enabled: false });
  await heat({ enabled: true });
  expect((await asked(user, 'put', path, body(16))).status).toBe(202);
  const [word] = ((await ends('UPDATE')).outputs ?? []).filter(({ output_key: key }) => key === 'word');
  expect(word?.output_value).toHaveLength(16);
  expect((await asked(user, 'delete', path)).status).toBe(204);
  await ends('DELETE');
});
