import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import { externalBroker } from './address.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

test.each([
  [{}, 2 ** 31],
  [{ resources: { limits: { memory: '1Gi' } } }, 2 ** 30],
  [{ resources: { requests: { memory: '1Gi' } } }, 2 ** 31],
  [{ resources: { requests: { cpu: 1 } } }, 2 ** 31],
  [{ components: { server: { resources: { requests: { memory: '8Gi' } } } } }, 2 ** 33],
  [{ resources: { requests: { memory: '8Gi' }, limits: { memory: '4Gi' } } }, 2 ** 32],
])('a broker with %j counts with %d bytes', (spec, bytes) => {
  const base = resource(read('rabbitmq'));
  const files = objectsOf(composed({ ...base, spec: { ...base.spec, ...spec } }, surroundings(read))).flatMap(
    ({ object }) => Object.entries((object as { data?: Record<string, string> }).data ?? {}),
  );
  const configuration = files.find(([name]) => name === 'rabbitmq.conf')?.[1];
  expect(configuration?.split('\n')).toContain(`total_memory_available_override_value = ${bytes}`);
});

const external = { host: 'mq.example.com', secretName: 'broker-admin' };

test.each([
  [external, 5672, 'http://mq.example.com:15672', undefined],
  [{ ...external, port: 30_672, managementPort: 443 }, 30_672, 'http://mq.example.com:443', undefined],
  [{ ...external, caSecretName: 'broker-ca' }, 5671, 'https://mq.example.com:15671', { secret: 'broker-ca' }],
  [
    { ...external, caSecretName: 'broker-ca', port: 5672, managementPort: 443 },
    5672,
    'https://mq.example.com:443',
    { secret: 'broker-ca' },
  ],
])('external %j is at port %d, its management API at %s', (given, port, managementUrl, trust) => {
  const address = externalBroker(given);
  expect([address.port, address.managementUrl, address.trust]).toEqual([port, managementUrl, trust]);
});

test('services of a broker with TLS verify its certificate, and administer it by https', () => {
  const file = read('neutron').replace(
    /messageQueueRef:\n {4}name: .*/,
    'messageQueueRef:\n    external: {host: mq.example.com, secretName: broker-admin, caSecretName: broker-ca}',
  );
  expect(file).toContain('broker-ca');
  const objects = JSON.stringify(objectsOf(composed(resource(file), surroundings(read))));
  expect(objects).toContain('ssl = true\\nssl_ca_file = /etc/openstack/trust/broker/ca.crt');
  expect(objects).toContain('mq.example.com:5671/neutron');
  expect(objects).toContain('{{broker-ca/ca.crt|quoted}}');
  expect(objects).toContain('"secretName":"broker-ca","items":[{"key":"ca.crt","path":"ca.crt"}]');
});
