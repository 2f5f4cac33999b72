import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

const issuerRef = { name: 'cloud', kind: 'ClusterIssuer' };

/** What the sample of a service comes to, in a cloud whose Keystone has an issuer. */
function withIssuer(sample: string, more: object = {}) {
  const known = surroundings(read);
  const base = resource(read('keystone'));
  const keystone = { ...base, spec: { ...base.spec, tls: { enabled: true, issuerRef } } };
  const composition = composed(sample === 'keystone' ? keystone : resource(read(sample)), {
    ...known,
    references: { ...known.references, keystoneRef: { found: keystone } },
    ...more,
  });
  const objects = objectsOf(composition);
  const names = (kind: string) =>
    objects.flatMap(({ object: { kind: of, metadata } }) => (of === kind ? [metadata.name] : []));
  return { composition, objects, names, text: JSON.stringify(objects) };
}

test('an API asks the issuer of its Keystone for a certificate, and clients trust what Keystone has of it', () => {
  const { objects, text } = withIssuer('placement');
  expect(objects.find(({ object }) => object.kind === 'Certificate')?.object).toMatchObject({
    metadata: { name: 'placement-issued-tls' },
    spec: {
      secretName: 'placement-issued-tls',
      dnsNames: ['placement-api.openstack.svc'],
      usages: ['digital signature', 'server auth'],
      issuerRef: { group: 'cert-manager.io', kind: 'ClusterIssuer', name: 'cloud' },
      secretTemplate: { annotations: { 'openstack.k8s.io/adopt': 'Placement.placement' } },
    },
  });
  expect(text).toContain('"secretName":"placement-issued-tls","items":[{"key":"tls.crt"');
  expect(text).toContain('"secretName":"keystone-issued-tls","items":[{"key":"ca.crt"');
  expect(text).not.toContain('"placement-tls"');
});

test('Keystone has no authority of its own then', () => {
  const { names, text } = withIssuer('keystone');
  expect(names('Certificate')).toEqual(['keystone-issued-tls']);
  expect(names('Secret')).toContain('keystone-issued-tls');
  expect(text).not.toContain('keystone-ca');
});

test('a cluster without cert-manager is told so', () => {
  const { composition } = withIssuer('placement', { served: new Set() });
  const step = composition.steps.find(({ condition }) => condition === 'CredentialsReady');
  expect(step?.problem).toMatchObject({
    reason: 'ApiMissing',
    message: 'the cluster does not serve cert-manager.io/v1 Certificate; install cert-manager (1.21 was checked)',
  });
});
