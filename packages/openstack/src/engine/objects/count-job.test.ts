import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { services } from '../../services/index.ts';
import { resource, surroundings } from '../../testing/compositions.ts';
import type { Guests, Service } from '../vocabulary/service.ts';
import { surroundingsOf } from '../vocabulary/surroundings.ts';
import { guestCountJob } from './count-job.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

test('servers are not counted by who may see those of one project alone', () => {
  const nova = services.find(({ name }) => name === 'nova') as Service & { readonly guests: Guests };
  const sample = resource(read('nova'));
  const count = (policy: Record<string, string>) =>
    guestCountJob(nova, { ...sample, spec: { ...sample.spec, policy } }, surroundingsOf(surroundings(read)));
  expect(count({ admin_api: 'role:admin' }).metadata.name).toBe('nova-server-count');
  expect(() => count({ context_is_admin: 'role:cloud_admin' })).toThrow(
    'spec.policy.context_is_admin: by another rule',
  );
});
