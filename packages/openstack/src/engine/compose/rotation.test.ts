import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, samples, surroundings } from '../../testing/compositions.ts';
import type { Step } from '../vocabulary/step.ts';
import type { Rotation } from '../vocabulary/surroundings.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

/** What a sample comes to while all of its passwords are rotated for the first time. */
function rotating(sample: string) {
  const one = resource(read(sample));
  const first = composed(one, surroundings(read));
  const rotations = objectsOf(first).flatMap((desired): [string, Rotation][] =>
    desired.verb === 'generate' && desired.succession !== undefined
      ? [
          [desired.object.metadata.name ?? '', { generation: 2 }],
          [desired.succession.previous, { generation: 1 }],
        ]
      : [],
  );
  return composed(one, surroundings(read, { rotations: Object.fromEntries(rotations) }));
}

const tellServers = ['DatabaseReady', 'MessagingReady', 'EndpointReady'];

/** Steps that a step comes after. */
function before(steps: readonly Step[], condition: string): ReadonlySet<string> {
  const needs = steps.find((one) => one.condition === condition)?.needs ?? [];
  return new Set(needs.flatMap((need) => [need, ...before(steps, need)]));
}

test.each(samples)('%s: nothing that logs in runs by other passwords before the servers know them', (sample) => {
  const composition = rotating(sample);
  const { steps, rotating: secrets = {} } = composition;
  const told = Object.entries({ DatabaseReady: 'db', MessagingReady: 'mq', EndpointReady: 'service' }).flatMap(
    ([step, account]) => (Object.keys(secrets).some((name) => name.endsWith(`-${account}-password`)) ? [step] : []),
  );
  const early = steps.flatMap(({ condition, objects }) => {
    const runs = objects.flatMap((one) =>
      'object' in one && /^(?:apps|batch)\//u.test(one.object.apiVersion) ? [one.object.kind] : [],
    );
    if (runs.length === 0 || tellServers.includes(condition)) return [];
    const missing = told.filter((step) => !before(steps, condition).has(step));
    return missing.length === 0 ? [] : [[condition, runs, missing]];
  });
  expect(early).toEqual([]);
});

test.each(samples)(
  '%s: whoever reads the password of a user in Keystone reads whose it is from the same place',
  (sample) => {
    const texts = objectsOf(rotating(sample)).flatMap(({ object }) =>
      object.kind === 'ConfigMap' ? Object.values((object['data'] ?? {}) as Record<string, string>) : [],
    );
    const lines = texts.flatMap((text) => text.split('\n'));
    expect(lines.filter((line) => /\b[a-z_]+\.b$|\{\{=/u.test(line))).toEqual([]);
  },
);
