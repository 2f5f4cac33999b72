import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import type { Adjutant } from './kind.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const sample = resource(read('adjutant')) as Adjutant & ReturnType<typeof resource>;

/** The APIs that are active. */
function apisOf(spec: Partial<Adjutant['spec']>): unknown {
  const composition = composed({ ...sample, spec: { ...sample.spec, ...spec } }, surroundings(read));
  const texts = objectsOf(composition).map(
    ({ object }) => (object['stringData'] as Record<string, string> | undefined)?.['adjutant.yaml'] ?? '',
  );
  return (parse(texts.join('')) as { api: Record<string, unknown> }).api['active_delegate_apis'];
}

test('anybody may sign up, unless that is switched off, or a list of users says otherwise', () => {
  expect(apisOf({ enableSignup: true })).toContain('SignUp');
  expect(apisOf({ enableSignup: false })).not.toContain('SignUp');
  const active_delegate_apis = ['UserList', 'UpdateProjectQuotas'];
  expect(apisOf({ enableSignup: true, config: { 'adjutant.yaml': { api: { active_delegate_apis } } } })).toEqual(
    active_delegate_apis,
  );
});
