import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compose } from '../../engine/compose/compose.ts';
import type { Service } from '../../engine/vocabulary/service.ts';
import { surroundingsOf } from '../../engine/vocabulary/surroundings.ts';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import { services } from '../index.ts';
import type { Nova } from './kind.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const sample = resource(read('nova')) as Nova & ReturnType<typeof resource>;
const texts = (spec: Partial<Nova['spec']>, peers: Readonly<Record<string, string>> = {}) => {
  const composition = composed({ ...sample, spec: { ...sample.spec, ...spec } }, surroundings(read, { peers }));
  return objectsOf(composition).map(({ object }) => JSON.stringify(object));
};
const key = (user: string) => `{{ceph-keyrings/ceph.client.${user}.keyring|cephkey}}`;
const ceph = { cephStorageRef: { name: 'ceph' } };

test('libvirt knows the key with which volumes are attached, once there is a Cinder', () => {
  const found = texts(ceph, { Cinder: 'cinder' });
  expect(found.filter((text) => text.includes(key('cinder')))).toHaveLength(1); // all groups of nodes share it
  const [, uuid = 'none'] = /<uuid>([0-9a-f-]{36})<\/uuid>/.exec(found.join()) ?? [];
  expect(found.join()).toContain(`/etc/openstack/secrets/${uuid}.base64`);
  expect(texts(ceph).join()).not.toContain('cephkey');
  expect(texts({}, { Cinder: 'cinder' }).join()).not.toContain('cephkey');
});

test('a cloud that keeps no volumes in Ceph needs no key to attach them with', () => {
  const nova = services.find(({ name }) => name === 'nova') as Service;
  const known = surroundings(read, { peers: { Cinder: 'cinder' } });
  const lacking = (_kind: string, _name: string, key?: string) =>
    key === 'ceph.client.cinder.keyring' ? { keys: ['ceph.client.nova.keyring'] } : undefined;
  const spec: Nova['spec'] = { ...sample.spec, ...ceph, ephemeralStorage: 'ceph' };
  const text = JSON.stringify(objectsOf(compose(nova, { ...sample, spec }, { ...surroundingsOf(known), lacking })));
  expect(text).toContain(key('nova'));
  expect(text).not.toContain(key('cinder'));
  const lost = { ...surroundingsOf(known), lacking: () => 'object' as const };
  expect(JSON.stringify(objectsOf(compose(nova, { ...sample, spec }, lost)))).toContain(key('cinder'));
});

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
