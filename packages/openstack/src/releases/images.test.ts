import { readFileSync } from 'node:fs';
import { imagesOf } from '@openstack-operator/facts/images';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, samples, surroundings } from '../testing/compositions.ts';
import { releases } from './index.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

/** A control plane itself runs nothing; of Adjutant, Freezer, Swift, Vitrage and Zaqar nobody publishes any, of Venus none that works. */
const served = samples.filter(
  (name) =>
    !name.startsWith('controlplane') &&
    !['adjutant', 'freezer', 'storlets', 'swift', 'swift_ceph', 'venus', 'vitrage', 'zaqar'].includes(name),
);

test.each(releases.flatMap(({ name }) => served.map((sample) => [name, sample] as const)))(
  '%s: every image of %s is published',
  (release, sample) => {
    const facts = imagesOf(release);
    const base = resource(read(sample));
    const objects = objectsOf(composed({ ...base, spec: { ...base.spec, release } }, surroundings(read)));
    const found = [...JSON.stringify(objects).matchAll(/"image":"quay\.io\/openstack\.kolla\/([^":]+):([^"]+)"/gu)];
    expect(found).not.toEqual([]);
    const published = new Set(Object.values(facts?.names ?? {}).flat());
    expect(found.filter(([, name = '', tag]) => !published.has(name) || tag !== facts?.tag)).toEqual([]);
  },
);
