import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { services } from '../../services/index.ts';
import { resource, surroundings } from '../../testing/compositions.ts';
import type { HeldBy, Service } from '../vocabulary/service.ts';
import { surroundingsOf } from '../vocabulary/surroundings.ts';
import { resourceCountJob } from './count-job.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

const countOf = (name: string, spec: object) => {
  const service = services.find((one) => one.name === name) as Service & { readonly heldBy: HeldBy };
  const sample = resource(read(name));
  return resourceCountJob(
    service,
    { ...sample, spec: { ...sample.spec, ...spec } },
    surroundingsOf(surroundings(read)),
  );
};

test.each([
  ['nova', 'context_is_admin', 'admin_api'],
  ['octavia', 'load-balancer:admin', 'load-balancer:owner'],
  ['ironic', 'service_role', 'is_observer'],
])('of %s nothing is counted by who may see what one project has alone: %s', (name, rule, other) => {
  expect(countOf(name, { policy: { [other]: 'role:admin' } }).metadata.name).toBe(`${name}-resource-count`);
  expect(() => countOf(name, { policy: { [rule]: 'role:cloud_admin' } })).toThrow(
    `spec.policy.${rule}: by another rule`,
  );
});

test('whose user is no administrator is asked by that of the cloud', () => {
  const [{ env } = { env: [] }] = (
    countOf('designate', {})['spec'] as { template: { spec: { containers: { env: { name: string }[] }[] } } }
  ).template.spec.containers;
  const value = (of: string) => env.find(({ name }) => name === of);
  expect(value('OS_USERNAME')).toMatchObject({ value: 'admin' });
  expect(value('OS_PROJECT_NAME')).toMatchObject({ value: 'admin' });
  expect(value('OS_PASSWORD')).toMatchObject({
    valueFrom: { secretKeyRef: { name: expect.stringMatching(/admin-password$/), key: 'password' } },
  });
});
