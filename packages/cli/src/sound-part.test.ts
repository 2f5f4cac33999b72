import { expect, test } from 'vitest';
import { minimalControlPlane } from './minimal-control-plane.ts';
import { mayFollow, soundPart } from './sound-part.ts';
import { validateResource } from './validate-resource.ts';

const partOf = (spec: unknown) => {
  const resource = { ...minimalControlPlane, spec };
  return soundPart(resource, validateResource(resource));
};

test('a field of a service that has a mistake is left out, and the rest is there', () => {
  const part = partOf({ nova: { virtType: 3, computeReplicas: 2 }, keystone: { replicas: 2 } });
  expect(part?.without).toEqual(['spec.nova.virtType']);
  expect(part?.object['spec']).toMatchObject({ nova: { computeReplicas: 2 }, keystone: { replicas: 2 } });
});

test('what is admitted is whole, with defaults; a spec of null is none', () => {
  expect(partOf(null)).toMatchObject({ without: [], object: { spec: { region: 'RegionOne' } } });
});

test.each([
  ['a release', { relaese: '2025.1' }],
  ['a service', { nova: 3 }],
  ['a spec', 3],
])('%s of which nothing is known leaves too little', (_what, spec) => {
  expect(partOf(spec)).toBeUndefined();
});

test.each([
  ['an option, beside a mistake in its service', 'spec.nova.config["nova.conf"].DEFAULT.x', 'no such option', false],
  ['a file, beside a mistake in its service', 'spec.nova.config["nova.cnf"]', 'unknown file', true],
  ['a file, beside a mistake in another service', 'spec.glance.config["glance.cnf"]', 'unknown file', false],
  ['what is left out', 'spec.nova.virtType', 'wrong', true],
  ['what names what is left out', 'spec.nova.config["nova.conf"].DEFAULT.x', 'set spec.nova.virtType, or not', true],
  ['what follows from several services', 'spec.neutron.vlanRanges[0].physicalNetwork', 'no bridge leads there', true],
])('%s: may it follow from the mistake?', (_what, field, message, expected) => {
  const part = partOf({ nova: { virtType: 3 } });
  expect(part && mayFollow({ field, message }, part)).toBe(expected);
});
