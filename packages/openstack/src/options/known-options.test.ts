import { readFileSync } from 'node:fs';
import { releases as releasesOfFacts } from '@openstack-operator/facts';
import { expect, test } from 'vitest';
import { contextOf } from '../engine/vocabulary/context.ts';
import type { Service } from '../engine/vocabulary/service.ts';
import { type ServiceResource, surroundingsOf } from '../engine/vocabulary/surroundings.ts';
import { referencesIn } from '../oslo/references.ts';
import { releases } from '../releases/index.ts';
import { services } from '../services/index.ts';
import { resource, samples, surroundings } from '../testing/compositions.ts';
import { knownOptions } from './known-options.ts';
import { optionVerdict } from './option-verdict.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

/** Services whose users may set options of oslo.config, with each of their samples. */
const configurable = services.flatMap((service): (readonly [string, Service, ServiceResource])[] => {
  const isOslo = service.kind.spec.schema.properties?.['unknownOptions'] !== undefined;
  const all = samples.map((name) => [name, service, resource(read(name))] as const);
  return isOslo ? all.filter(([, , { kind }]) => kind === service.kind.kind) : [];
});

test('there are facts of every release that can be deployed', () => {
  expect(releasesOfFacts()).toEqual(expect.arrayContaining(releases.map(({ name }) => name)));
  expect(configurable.length).toBeGreaterThan(4);
});

test.each(configurable)('every option that %s is given by us is known, and can be read', (_name, service, sample) => {
  const sets = service.config?.(contextOf(service, sample, surroundingsOf(surroundings(read)))) ?? {};
  const layers = Object.values(sets).flatMap((files) =>
    Object.values(files).flatMap((content) => (typeof content === 'object' && 'oslo' in content ? [content.oslo] : [])),
  );
  const known = knownOptions('2025.1', service.facts ?? service.name, layers);
  const said = layers.flatMap((layer) =>
    Object.entries(layer).flatMap(([section, options]) =>
      Object.entries(options).flatMap(([option, value]) => {
        const isPlain = value !== null && referencesIn(JSON.stringify(value)).length === 0;
        const verdict = known && optionVerdict(known, [section, option], isPlain ? value : undefined);
        // An address without credentials, which others may have.
        const isOpen = verdict?.kind === 'secret' && /^[a-z+]+:\/\/[^@]+$/.test(String(value));
        return verdict === undefined || verdict.kind === 'deprecated' || isOpen
          ? []
          : [`[${section}] ${option}: ${verdict.kind}: ${verdict.tell()}`];
      }),
    ),
  );
  expect(known).toBeDefined();
  expect(said).toEqual([]);
});

test('groups that other options name have the options of their kind', () => {
  const known = (service: string, layer: Record<string, Record<string, string>>) => {
    const found = knownOptions('2025.1', service, [layer]);
    if (found === undefined) throw new Error(`no facts of ${service}`);
    return found;
  };
  const glance = known('glance', { DEFAULT: { enabled_backends: 'fast:file, slow:rbd' } });
  expect(glance.find('slow', 'rbd_store_pool')).toMatchObject({ group: 'slow', type: 'string' });
  expect(glance.find('slower', 'rbd_store_pool')).toBeUndefined();
  expect(known('cinder', { DEFAULT: { enabled_backends: 'lvm-1' } }).find('lvm-1', 'volume_group')).toBeDefined();
  const nova = known('nova', { devices: { enabled_mdev_types: 'nvidia-35' } });
  expect(nova.find('mdev_nvidia-35', 'max_instances')).toMatchObject({ type: 'integer' });
  expect(nova.find('nova_sys_admin', 'helper_command')).toBeDefined();
  const keystone = known('keystone', { auth: { methods: 'password,kerberos' } });
  expect(keystone.find('openid', 'remote_id_attribute')).toBeDefined();
  expect(keystone.find('kerberos', 'remote_id_attribute')).toBeDefined();
  const sink = known('designate', { 'service:sink': { enabled_notification_handlers: 'own' } });
  expect(sink.find('handler:own', 'zone_id')).toBeDefined();
  const shared = known('nova', { cinder: { auth_section: 'block' }, block: { auth_type: 'v3token' } });
  expect(shared.find('block', 'token')).toMatchObject({ secret: true });
  expect(known('neutron', {}).find('vpnagent', 'vpn_device_driver')).toBeDefined();
});
