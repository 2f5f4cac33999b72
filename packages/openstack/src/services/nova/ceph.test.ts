import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compose } from '../../engine/compose/compose.ts';
import type { Service } from '../../engine/vocabulary/service.ts';
import { type Surroundings, surroundingsOf } from '../../engine/vocabulary/surroundings.ts';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import type { Cinder } from '../cinder/kind.ts';
import { services } from '../index.ts';
import type { Nova } from './kind.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const sample = resource(read('nova')) as Nova & ReturnType<typeof resource>;
const texts = (spec: Partial<Nova['spec']>, cinder?: Partial<Cinder['spec']>) => {
  const peers = cinder && { peers: { Cinder: 'cinder' }, peerSpecs: { Cinder: cinder } };
  const composition = composed({ ...sample, spec: { ...sample.spec, ...spec } }, surroundings(read, peers));
  return objectsOf(composition).map(({ object }) => JSON.stringify(object));
};
const key = (user: string) => `{{ceph-keyrings/ceph.client.${user}.keyring|cephkey}}`;
const volumes: Partial<Cinder['spec']> = { backends: [{ name: 'fast', type: 'ceph', cephPoolName: 'volumes' }] };
const ceph = { cephStorageRef: { name: 'ceph' } };

test('libvirt knows the key with which volumes are attached, once Cinder keeps any there', () => {
  const found = texts(ceph, volumes);
  expect(found.filter((text) => text.includes(key('cinder')))).toHaveLength(1); // all groups of nodes share it
  const [, uuid = 'none'] = /<uuid>([0-9a-f-]{36})<\/uuid>/.exec(found.join()) ?? [];
  expect(found.join()).toContain(`/etc/openstack/secrets/${uuid}.base64`);
  expect(texts(ceph).join()).not.toContain('cephkey');
  expect(texts({}, volumes).join()).not.toContain('cephkey');
});

test('libvirt keeps that key while volumes lie in a backend that is stated no more', () => {
  const known = { peers: { Cinder: 'cinder' }, peerSpecs: { Cinder: { backends: [] } } };
  const peersRemembered = { Cinder: { 'spec.backends[name=fast]': volumes.backends?.[0] } };
  const nova = { ...sample, spec: { ...sample.spec, ...ceph } };
  const of = (more: object) => JSON.stringify(objectsOf(composed(nova, surroundings(read, { ...known, ...more }))));
  expect(of({ peersRemembered })).toContain(key('cinder'));
  // Cinder as a whole is disabled.
  expect(of({ peersRemembered, peers: {}, peerSpecs: {} })).toContain(key('cinder'));
  expect(of({})).not.toContain(key('cinder'));
});

test('a cloud that keeps no volumes in Ceph needs no key to attach them with', () => {
  const spec: Partial<Nova['spec']> = { ...ceph, ephemeralStorage: 'ceph' };
  for (const cinder of [{ backends: [] }, { backup: { type: 'ceph' } }] satisfies Partial<Cinder['spec']>[]) {
    const text = texts(spec, cinder).join();
    expect(text).toContain(key('nova'));
    expect(text).not.toContain(key('cinder'));
  }
});

test.each(['object' as const, { keys: [] }])(
  'a key that is gone from the Secret (%j) changes nothing on nodes',
  (gone) => {
    const nova = services.find(({ name }) => name === 'nova') as Service;
    const known = surroundingsOf(surroundings(read, { peers: { Cinder: 'cinder' }, peerSpecs: { Cinder: volumes } }));
    const spec: Nova['spec'] = { ...sample.spec, ...ceph };
    const of = (lacking: Surroundings['lacking']) =>
      objectsOf(compose(nova, { ...sample, spec }, { ...known, lacking }));
    expect(of(() => gone)).toEqual(of(() => undefined));
  },
);

test('no node has a share of disks that lie in Ceph', () => {
  const nodeGroups = [{ name: 'all', guests: { disk: '400Gi' } }];
  const spec: Nova['spec'] = { ...sample.spec, ...ceph, ephemeralStorage: 'ceph', nodeGroups };
  const { steps } = composed({ ...sample, spec }, surroundings(read));
  expect(steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message).toBe(
    'spec.nodeGroups[name=all].guests.disk: disks of servers lie in Ceph (spec.ephemeralStorage), which all nodes share; remove it',
  );
});

test('disks in Ceph are made by nova-compute with a key of its own', () => {
  const found = texts({ ...ceph, ephemeralStorage: 'ceph' }).join('\n');
  expect(found).toContain('images_type = rbd');
  expect(found).toContain(`[client.nova]\\n\\tkey = ${key('nova')}`);
  expect(found).not.toContain(key('cinder'));
});
