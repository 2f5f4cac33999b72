import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, resource, surroundings } from '../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

/** The sample with other fields, beside a Nova with other fields. */
function steps(spec: object = {}, nova: object = {}) {
  const base = resource(read('openstackdataplane'));
  const known = surroundings(read);
  const found = resource(read('nova'));
  const novaRef = { found: { ...found, spec: { ...found.spec, ...nova } } };
  const references = { ...known.references, novaRef };
  return composed({ ...base, spec: { ...base.spec, ...spec } }, { ...known, references }).steps;
}

const problem = (spec: object, nova?: object) =>
  steps(spec, nova).find(({ condition }) => condition === 'ConfigReady')?.problem;

/** A file that is made for hosts, or for the Job. */
function file(name: string, spec: object = {}, nova: object = {}): string {
  const objects = steps(spec, nova).flatMap(({ objects }) =>
    objects.flatMap((one) => ('object' in one ? [one.object] : [])),
  );
  const texts: Readonly<Record<string, string>>[] = objects
    .filter(({ metadata }) => metadata.name?.startsWith('edge-config'))
    .map((one) => ({ ...(one['data'] as object), ...(one['stringData'] as object) }));
  return texts.map((data) => data[name]).find((text) => text !== undefined) ?? '';
}

const inputs = (spec: object, nova?: object) =>
  steps(spec, nova)
    .flatMap(({ objects }) => objects.flatMap((one) => ('object' in one ? [one.object] : [])))
    .find(({ kind, metadata }) => kind === 'Job' && metadata.name === 'edge-deploy')?.metadata.annotations;

test('what users say of hypervisors in Nova is said to hosts outside as well, and nothing of the control plane', () => {
  const config = {
    'nova.conf': { libvirt: { cpu_mode: 'host-model' }, scheduler: { workers: 9 } },
    compute: { DEFAULT: { reserved_host_memory_mb: 1024 } },
  };
  const text = file('nova.conf', {}, { config });
  expect(text).toContain('cpu_mode = host-model');
  expect(text).toContain('reserved_host_memory_mb = 1024');
  expect(text).not.toMatch(/\[scheduler\]|\[(?:api_)?database\]/u);
  expect(inputs({}, { config })).not.toEqual(inputs({}));
});

test('the Job runs again when a host, a variable, its playbook or an address changes', () => {
  const before = inputs({});
  const { nodes } = resource(read('openstackdataplane')).spec as unknown as { nodes: object[] };
  for (const change of [
    { nodes: nodes.slice(0, 1) },
    { ansibleExtraVars: { site: 'b' } },
    { ansiblePlaybook: 'mine' },
    { servicesOverride: { libvirt: true, novaCompute: false } },
    { addresses: { messageQueue: { host: '192.0.2.100' }, southbound: 'tcp:192.0.2.109:6642' } },
  ])
    expect(inputs(change), JSON.stringify(change)).not.toEqual(before);
});

test('what a host could not reach, or be trusted with, is refused by name, with the way out', () => {
  expect(problem({})).toBeUndefined();
  expect(problem({ addresses: {} })).toMatchObject({
    reason: 'ExposureRefused',
    message: expect.stringMatching(
      /^spec\.addresses\.messageQueue: RabbitMQ rabbitmq .* port 5672 .*instance=rabbitmq.*; spec\.addresses\.southbound: .* port 6642 /u,
    ) as string,
  });
  const node = { hostname: 'a', ip: '192.0.2.1', role: 'compute', sshSecretName: 'key' };
  expect(problem({ nodes: [node] })?.message).toContain('`ssh-keyscan -t ed25519 192.0.2.1`');
  const hostKey = 'ssh-ed25519 AAAA';
  const twins = [
    { ...node, hostKey },
    { ...node, hostname: 'b', hostKey },
  ];
  expect(problem({ nodes: twins })?.message).toBe('spec.nodes[hostname=b].ip: 192.0.2.1 is the address of a already');
  expect(problem({ images: {} })?.message).toContain('has no image ansible of 2025.1');
  expect(problem({ imageRegistry: 'registry.example.com' })).toBeUndefined();
  expect(problem({}, { ephemeralStorage: 'ceph' })?.message).toContain('spec.ephemeralStorage');
  expect(problem({}, { messageQueueRef: { name: 'other' } })?.message).toBe(
    'spec.messageQueueRef: Nova nova refers to other; state the same here',
  );
});

test('without hypervisors nothing of the broker is asked, and nobody looks for hosts', () => {
  const { nodes } = resource(read('openstackdataplane')).spec as unknown as { nodes: object[] };
  const spec = {
    nodes: nodes.slice(1),
    servicesOverride: { novaCompute: false },
    addresses: { southbound: 'tcp:192.0.2.101:6642' },
  };
  expect(problem(spec)).toBeUndefined();
  expect(steps(spec).map(({ condition }) => condition)).toEqual(['ConfigReady', 'DeploymentReady']);
  expect(file('inventory.yaml', spec)).not.toContain('the broker');
});

test('hosts verify an external broker whose authority is stated, and reach one of the cloud as it is exposed', () => {
  const external = { host: 'mq.example.com', secretName: 'broker-admin', caSecretName: 'broker-ca' };
  const stated = { messageQueueRef: { external }, addresses: {} };
  const conf = file('nova.conf', stated, stated);
  expect(conf).toContain('ssl_ca_file = /etc/openstack/trust/broker/ca.crt');
  expect(conf).toContain('@mq.example.com:5671/');
  expect(file('inventory.yaml', stated, stated)).toContain(
    'openstack_broker_authority: /etc/openstack/trust/broker/ca.crt',
  );
  expect(JSON.stringify(steps(stated, stated))).toContain('"secretName":"broker-ca","items":[{"key":"ca.crt"');
  expect(file('nova.conf')).not.toContain('ssl');
  expect(file('inventory.yaml')).toContain('openstack_broker_authority: ""');
});

test('hosts show no certificate to an external OVN: where it answers without TLS has to be stated', () => {
  const ovnRef = {
    external: {
      northbound: 'ssl:192.0.2.1:6641',
      southbound: 'ssl:192.0.2.1:6642',
      certificateSecretName: 'ovn-client',
    },
  };
  const addresses = { messageQueue: { host: '192.0.2.100' } };
  expect(problem({ ovnRef, addresses })?.message).toMatch(/^spec\.addresses\.southbound: hosts have no certificate/u);
  expect(problem({ ovnRef, addresses: { ...addresses, southbound: 'tcp:192.0.2.1:6643' } })).toBeUndefined();
});
