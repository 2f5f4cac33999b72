import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import type { Skyline } from './kind.ts';
import { rootOf } from './nginx.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const sample = resource(read('skyline')) as Skyline & ReturnType<typeof resource>;

/** A file of the sample's, with what is known of its cloud. */
function fileOf(name: string, spec: Partial<Skyline['spec']> = {}, known: object = {}): string {
  const composition = composed({ ...sample, spec: { ...sample.spec, ...spec } }, { ...surroundings(read), ...known });
  const files = objectsOf(composition).flatMap(({ object }) => {
    const { data, stringData } = object as { data?: Record<string, string>; stringData?: Record<string, string> };
    return data?.[name] ?? stringData?.[name] ?? [];
  });
  return files.join('');
}

test.each([
  ['http://nova:8774/v2.1', 'http://nova:8774/'],
  ['http://cinder:8776/v3/%(project_id)s', 'http://cinder:8776/'],
  ['http://swift:8080/v1/AUTH_%(project_id)s', 'http://swift:8080/'],
  ['http://heat.example.com/orchestration/v1/$(tenant_id)s', 'http://heat.example.com/orchestration/'],
  ['http://placement:8778', 'http://placement:8778/'],
])('browsers say version and project themselves: %s -> %s', (endpoint, root) => {
  expect(rootOf(endpoint)).toBe(root);
});

test('each API of its cloud has a location, named as the pages name it; what others say of theirs has none', () => {
  const peerEndpoints = { Manila: 'http://files:8786/v2', Nova: 'http://nova:8774/v2.1', Aodh: 'http://aodh:8042' };
  const peers = { Manila: 'files', Nova: 'nova', Aodh: 'aodh' };
  const text = fileOf('nginx.conf', { region: 'Berlin' }, { peers, peerEndpoints });
  expect(
    [...text.matchAll(/location (\/api\S+) \{\n *proxy_pass (\S+);/gu)].map(([, ...words]) => words.join(' ')),
  ).toEqual([
    '/api/openstack/skyline/ http://skyline-apiserver.openstack.svc:9998/',
    '/api/v1/ http://skyline-apiserver.openstack.svc:9998/api/v1/',
    '/api/openstack/berlin/keystone/ http://keystone-api.openstack.svc:5000/',
    '/api/openstack/berlin/manilav2/ http://files:8786/',
    '/api/openstack/berlin/nova/ http://nova:8774/',
  ]);
});

test('a dashboard without TLS in front of it says so, and options of users lie over those of the operator', () => {
  expect(fileOf('skyline.yaml', { exposure: 'None' })).toContain('ssl_enabled: false');
  const config = { 'skyline.yaml': { openstack: { base_domains: ['users'] } } };
  expect(fileOf('skyline.yaml', { config })).toContain('base_domains:\n    - users');
});
