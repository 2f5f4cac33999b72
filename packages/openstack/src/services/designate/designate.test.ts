import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { compose } from '../../engine/compose/compose.ts';
import { surroundingsOf } from '../../engine/vocabulary/surroundings.ts';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import { services } from '../index.ts';
import { Designate } from './kind.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const sample = resource(read('designate'));
const known = surroundings(read);
const compositionOf = (spec: Partial<Designate['spec']> = {}) =>
  composed({ ...sample, spec: { ...sample.spec, ...spec } }, known);
const named = (composition: ReturnType<typeof compositionOf>) =>
  objectsOf(composition).map(({ object }) => `${object.kind} ${object.metadata.name}`);

interface Pool {
  readonly name: string;
  readonly targets: readonly { readonly type: string; readonly options: Readonly<Record<string, unknown>> }[];
}

/** What `designate-manage pool update` reads. */
function poolsIn(composition: ReturnType<typeof compositionOf>): readonly Pool[] {
  const texts = objectsOf(composition).flatMap(({ object }) => {
    const { data, stringData } = object as { data?: Record<string, string>; stringData?: Record<string, string> };
    return Object.values({ ...data, ...stringData }).filter((text) => text.includes('ns_records'));
  });
  return parse(texts[0] ?? '[]') as Pool[];
}

const external = (more: object = {}) => ({
  name: 'default',
  type: 'bind9' as const,
  nsRecords: ['ns1.example.com'],
  masters: [{ host: '192.0.2.40' }],
  servers: [{ host: '192.0.2.54', rndcPort: 1953 }],
  secretName: 'their-rndc-key',
  ...more,
});

test('all pools have the attribute by which zones ask for them, and NS records end in a dot', () => {
  const [own, branch] = poolsIn(compositionOf());
  expect(own).toMatchObject({
    name: 'default',
    id: '794ccc2c-d751-44fe-b57f-8894c9f5c842',
    attributes: { pool: 'default' },
    ns_records: [
      { hostname: 'ns1.example.com.', priority: 1 },
      { hostname: 'ns2.example.com.', priority: 2 },
    ],
    nameservers: [
      { host: 'designate-bind-0.openstack.svc.cluster.local', port: 53 },
      { host: 'designate-bind-1.openstack.svc.cluster.local', port: 53 },
    ],
  });
  expect(branch).toMatchObject({
    name: 'branch',
    attributes: { pool: 'branch' },
    targets: [{ type: 'pdns4', masters: [{ host: '192.0.2.40', port: 5354 }], options: { host: '192.0.2.53' } }],
  });
  expect(branch?.targets[0]?.options['api_token']).toBe('{{branch-pdns/password|quoted}}');
});

test('servers and mdns are said by the addresses of their Services, once they have one', () => {
  const asked: string[] = [];
  const world = surroundingsOf(known);
  const service = services.find(({ kind }) => kind === Designate);
  if (service === undefined) throw new Error('there is no Designate');
  const composition = compose(service, sample, {
    ...world,
    address: ({ metadata }, name) => {
      asked.push(`${metadata.uid} ${name}`);
      return '10.96.7.7';
    },
  });
  expect(poolsIn(composition)[0]).toMatchObject({
    nameservers: [{ host: '10.96.7.7' }, { host: '10.96.7.7' }],
    targets: [
      {
        masters: [{ host: '10.96.7.7', port: 5354 }],
        options: { host: '10.96.7.7', port: 53, rndc_host: '10.96.7.7', rndc_port: 953 },
      },
      {},
    ],
  });
  const names = ['designate-bind-0', 'designate-bind-1', 'designate-mdns'];
  expect([...new Set(asked)].sort()).toEqual(names.map((name) => `uid-of-designate ${name}`));
});

test('a pool named default takes the place of BIND', () => {
  const composition = compositionOf({ pools: [external()] });
  expect(named(composition).filter((name) => /bind|rndc/.test(name))).toEqual([]);
  expect(poolsIn(composition)).toEqual([
    expect.objectContaining({ name: 'default', nameservers: [{ host: '192.0.2.54', port: 53 }] }),
  ]);
  expect(JSON.stringify(composition)).toContain('"secretName":"their-rndc-key"');
  expect(JSON.stringify(composition)).not.toContain('scheduler_filters');
});

test('mdns is reached by its own BIND alone, unless name servers of others transfer zones from it', () => {
  const policy = (spec: Partial<Designate['spec']>) =>
    objectsOf(compositionOf(spec)).find(
      ({ object }) => object.kind === 'NetworkPolicy' && object.metadata.name === 'designate-mdns',
    )?.object['spec'];
  expect(JSON.stringify(policy({ pools: [] }))).toContain('"app.kubernetes.io/instance":"designate"');
  expect(JSON.stringify(policy({}))).not.toContain('podSelector":{"matchLabels":{"app.kubernetes.io/part-of"');
});

test('BIND has low ports at its Services alone, and lets nobody but the worker to its control channel', () => {
  const objects = objectsOf(compositionOf()).map(({ object }) => object);
  const spec = (kind: string, name: string) =>
    objects.find((object) => object.kind === kind && object.metadata.name === name)?.['spec'];
  for (const name of ['designate-bind', 'designate-bind-0', 'designate-bind-1'])
    expect(spec('Service', name)).toMatchObject({
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP', targetPort: 'dns' },
        { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 'dns-tcp' },
        { name: 'rndc', port: 953, protocol: 'TCP', targetPort: 'rndc' },
      ],
    });
  const own = { 'app.kubernetes.io/name': 'designate', 'app.kubernetes.io/instance': 'designate' };
  expect(spec('NetworkPolicy', 'designate-bind')).toMatchObject({
    ingress: [
      {
        ports: [
          { port: 5353, protocol: 'UDP' },
          { port: 5353, protocol: 'TCP' },
        ],
      },
      { ports: [{ port: 1953, protocol: 'TCP' }], from: [{ podSelector: { matchLabels: own } }] },
    ],
  });
});

test('Neutron makes records where Designate is in its cloud, unless that says otherwise', () => {
  const neutron = resource(read('neutron'));
  const text = (spec: object) =>
    JSON.stringify(
      composed(neutron, { ...known, peers: { Designate: 'dns' }, peerSpecs: { Designate: { ...spec } } }).steps,
    );
  expect(text({})).toContain('url = http://dns-api.openstack.svc:9001/v2');
  expect(text({})).toContain('extension_drivers = port_security,qos,dns_domain_ports');
  expect(text({ enableNeutronIntegration: false })).not.toContain('external_dns_driver');
});
