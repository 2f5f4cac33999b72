import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { composed, resource, surroundings } from '../../testing/compositions.ts';
import type { KnownSurroundings } from '../vocabulary/surroundings.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const world = surroundings(read);
const stolen = '{{my-cloud-keystone-admin-password/password}}';

const said = (sample: string, spec: object, more: KnownSurroundings = {}) => {
  const base = resource(read(sample));
  return composed({ ...base, spec: { ...base.spec, ...spec } }, { ...world, ...more });
};

describe('what would be filled with a Secret is refused, and nothing is changed', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(20_000)}"${stolen}"${']'.repeat(20_000)}`);

  test.each<[string, string, object, KnownSurroundings, string]>([
    [
      'in a resource that is made in OpenStack',
      'cinder',
      { volumeTypes: [{ name: 'fast', description: stolen }] },
      {},
      'spec.volumeTypes[0].description: holds "{{"',
    ],
    ['in a key', 'nova', { policy: { '{{a/b}}': '!' } }, {}, 'spec.policy["{{a/b}}"]: holds "{{"'],
    ['in a part of it', 'keystone', { region: 'a{{b' }, {}, 'spec.region: holds "{{"'],
    [
      'in an option',
      'nova',
      { config: { 'nova.conf': { DEFAULT: { a: stolen } } } },
      {},
      'spec.config["nova.conf"].DEFAULT.a: holds',
    ],
    [
      'in a map of data',
      'horizon',
      { config: { local_settings: { LIST: [{ a: stolen }] } } },
      {},
      'spec.config.local_settings.LIST[0].a: holds',
    ],
    [
      'however deep',
      'nova',
      { config: { 'nova.conf': { DEFAULT: { a: deep } } } },
      {},
      'spec.config["nova.conf"].DEFAULT.a[0][0]',
    ],
    [
      'in what it refers to',
      'glance',
      {},
      {
        references: {
          ...world.references,
          keystoneRef: { found: { ...resource(read('keystone')), spec: { region: stolen } } },
        },
      },
      'Keystone keystone: spec.region: holds',
    ],
    [
      'in a peer',
      'nova',
      { cephStorageRef: { name: 'ceph' } },
      { peers: { Cinder: 'cinder' }, peerSpecs: { Cinder: { backends: [{ name: stolen, type: 'ceph' }] } } },
      'Cinder cinder: spec.backends[0].name: holds',
    ],
    [
      'in what is remembered',
      'cinder',
      {},
      { remembered: { 'spec.backends[name=old]': { name: 'old', config: stolen } } },
      'entries of the ConfigMap of status.lasting["spec.backends[name=old]"].config: holds',
    ],
  ])('%s', (_, sample, spec, more, beginning) => {
    const { steps, complete } = said(sample, spec, more);
    expect(complete).toBe(false);
    expect(steps.flatMap(({ objects }) => objects)).toEqual([]);
    expect(steps[0]?.problem?.reason).toBe('SpecRefused');
    expect(steps[0]?.problem?.message.slice(0, beginning.length)).toBe(beginning);
  });
});

test('braces that open nothing are taken', () => {
  expect(said('cinder', { volumeTypes: [{ name: 'fast', description: '{ {a/b} }' }] }).complete).toBe(true);
});
