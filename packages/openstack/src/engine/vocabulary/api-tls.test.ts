import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

/** What the sample of a service comes to, with such a Keystone. */
function withKeystone(sample: string, spec: object) {
  const known = surroundings(read);
  const base = resource(read('keystone'));
  const keystone = { ...base, spec: { ...base.spec, ...spec } };
  const composition = composed(sample === 'keystone' ? keystone : resource(read(sample)), {
    ...known,
    references: { ...known.references, keystoneRef: { found: keystone } },
  });
  const objects = objectsOf(composition);
  const of = (kind: string, name: string) =>
    objects.find(({ object }) => object.kind === kind && object.metadata.name === name);
  return { composition, of, text: JSON.stringify(objects) };
}

const podOf = (object: object | undefined) => {
  const { spec } = object as { spec: { template: { spec: { containers: Record<string, unknown>[] } } } };
  return spec.template.spec;
};

test('an API has a port with TLS, a certificate of its Keystone, and the old address, where TLS is stated alone', () => {
  const { of, composition, text } = withKeystone('placement', { tls: {} });
  expect(of('Service', 'placement-api')?.object['spec']).toMatchObject({
    ports: [
      { name: 'api', port: 8778, targetPort: 'api' },
      { name: 'api-tls', port: 18_778, targetPort: 'api-tls' },
    ],
  });
  expect(of('NetworkPolicy', 'placement-api')?.object['spec']).toMatchObject({
    ingress: [{ ports: [{ port: 8778 }, { port: 18_778 }] }],
  });
  expect(of('Secret', 'placement-tls')).toMatchObject({
    verb: 'generate',
    values: {
      'tls.crt': {
        dnsNames: ['placement-api.openstack.svc'],
        seconds: 90 * 86_400,
        signedBy: { secret: 'keystone-ca', certificate: 'ca.crt', key: 'ca.key' },
      },
    },
  });
  expect(text).toContain('https-socket = 0.0.0.0:18778,/etc/openstack/tls/tls.crt,/etc/openstack/tls/tls.key');
  expect(text).toContain('touch-reload = /etc/openstack/tls/tls.crt');
  expect(text).toContain('cafile = /etc/openstack/trust/identity/ca.crt');
  expect(text).toContain('auth_url = http://keystone-api.openstack.svc:5000/v3');
  expect(composition.status['apiEndpoint']).toBe('http://placement-api.openstack.svc:8778');
});

test('the catalogue and all addresses lead to the ports with TLS once it is enabled', () => {
  const { composition, text } = withKeystone('placement', { tls: { enabled: true } });
  expect(composition.status['apiEndpoint']).toBe('https://placement-api.openstack.svc:18778');
  expect(text).toContain('auth_url = https://keystone-api.openstack.svc:15000/v3');
  expect(withKeystone('octavia', { tls: { enabled: true } }).text).toContain(
    'endpoint_override = https://neutron-server.openstack.svc:19696',
  );
});

test('what uwsgi does not serve has a proxy in its pods, which serves TLS', () => {
  const { of, composition, text } = withKeystone('glance', { tls: { enabled: true } });
  expect(composition.status['apiEndpoint']).toBe('https://glance-api.openstack.svc:19292');
  expect(of('Service', 'glance-api')?.object['spec']).toMatchObject({
    ports: [{ port: 9292 }, { name: 'api-tls', port: 19_292, targetPort: 'api-tls' }],
  });
  expect(of('Secret', 'glance-tls')).toMatchObject({
    values: { 'tls.crt': { dnsNames: ['glance-api.openstack.svc'] } },
  });
  const { containers } = podOf(of('Deployment', 'glance-api')?.object);
  expect(containers[0]).toMatchObject({ name: 'api', ports: [{ name: 'api' }] });
  expect(containers[1]).toMatchObject({
    name: 'tls-proxy',
    image: expect.stringContaining('/haproxy:'),
    command: ['dumb-init', '--single-child', '--rewrite', '15:10', '--', 'bash', '-eu', '/etc/openstack/tls-proxy.sh'],
    ports: [{ name: 'api-tls', containerPort: 19_292 }],
    readinessProbe: { httpGet: { path: '/tls-proxy', port: 'api-tls', scheme: 'HTTPS' } },
    // As long as the API: its Service lets go of both.
    lifecycle: containers[0]?.['lifecycle'],
  });
  expect(text).toContain(String.raw`bind *:19292 ssl crt /etc/openstack/tls/tls.crt`);
  expect(text).toContain('server api 127.0.0.1:9292');
  expect(withKeystone('tacker', { tls: { enabled: true } }).text).toContain(
    'endpoint_url = https://tacker-server.openstack.svc:19890',
  );
});

test('metadata are asked for by TLS, though no catalogue knows where', () => {
  const { of, text } = withKeystone('neutron', { tls: { enabled: true } });
  expect(text).toContain(String.raw`nova_metadata_port = 18775\nnova_metadata_protocol = https`);
  expect(text).toContain('auth_ca_cert = /etc/openstack/trust/identity/ca.crt');
  expect(of('DaemonSet', 'neutron-metadata-agent')?.object).toMatchObject({
    spec: { template: { metadata: { annotations: expect.anything() } } },
  });
  const nova = withKeystone('nova', { tls: {} });
  expect(nova.of('Service', 'nova-metadata')?.object['spec']).toMatchObject({
    ports: [{ port: 8775 }, { name: 'api-tls', port: 18_775 }],
  });
  expect(nova.of('Secret', 'nova-tls')).toMatchObject({
    values: { 'tls.crt': { dnsNames: ['nova-api.openstack.svc', 'nova-metadata.openstack.svc'] } },
  });
  expect(withKeystone('neutron', { tls: {} }).text).toContain(
    String.raw`nova_metadata_port = 8775\nnova_metadata_protocol = http\n`,
  );
});

test('there is no proxy where nothing is said of TLS', () => {
  const { of } = withKeystone('glance', {});
  expect(podOf(of('Deployment', 'glance-api')?.object).containers.map(({ name }) => name)).toEqual(['api']);
});

test('Keystone has an authority, whose key no pod sees', () => {
  const { of, text } = withKeystone('keystone', { tls: {} });
  expect(of('Secret', 'keystone-ca')).toMatchObject({
    values: { 'ca.crt': { authority: true, seconds: 3650 * 86_400 }, 'ca.key': { type: 'privateKey' } },
  });
  expect(text.match(/"secretName":"keystone-ca"/g)).toBeNull();
  const mounts = withKeystone('placement', { tls: {} }).text.match(/\{"secretName":"keystone-ca"[^}]*\}\]/g);
  expect(new Set(mounts)).toEqual(new Set(['{"secretName":"keystone-ca","items":[{"key":"ca.crt","path":"ca.crt"}]']));
});

test('an external Keystone is trusted by its certificate, and signs nothing', () => {
  const file = read('placement').replace(
    /keystoneRef:\n {4}name: .*/,
    'keystoneRef:\n    external: {authURL: "https://id.example.com/v3", secretName: admin, caSecretName: id-ca}',
  );
  expect(file).toContain('id-ca');
  const objects = objectsOf(composed(resource(file), surroundings(read)));
  const text = JSON.stringify(objects);
  expect(text).toContain('cafile = /etc/openstack/trust/identity/ca.crt');
  expect(text).toContain('{{id-ca/ca.crt|quoted}}');
  expect(objects.map(({ object }) => object.metadata.name)).not.toContain('placement-tls');
});
