import { controllerReference, type StoredObject, seededRandom, virtualClock } from '@openstack-operator/kube';
import { type Generator, type Live, planGenerated } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { encodeData, generateValues } from './values.ts';

const random = seededRandom(1);
const now = virtualClock().now();
const stored = (name: string, more: object = {}) =>
  ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'openstack', uid: name },
    ...more,
  }) as StoredObject;
const resource = { ...stored('placement'), apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Placement' };

const authority = () =>
  generateValues(
    {
      'ca.key': { type: 'privateKey' },
      'ca.crt': {
        type: 'certificate',
        key: 'ca.key',
        commonName: 'keystone authority',
        seconds: 3650 * 86_400,
        authority: true,
      },
    },
    {},
    { random, now },
  );

const leaf = (host: string): Readonly<Record<string, Generator>> => ({
  'tls.key': { type: 'privateKey' },
  'tls.crt': {
    type: 'certificate',
    key: 'tls.key',
    commonName: 'placement',
    seconds: 90 * 86_400,
    dnsNames: [host],
    signedBy: { secret: 'keystone-ca', certificate: 'ca.crt', key: 'ca.key' },
  },
});

const own = authority();
const data = generateValues(leaf('placement-api'), {}, { random, now, other: (_secret, key) => own[key] ?? '' });

/** Keys that are made anew, where the authority is such, and the certificate is to be for such a host. */
function renewed(signer: Readonly<Record<string, string>> | undefined, host = 'placement-api') {
  const secrets = [
    ...(signer === undefined ? [] : [stored('keystone-ca', { data: encodeData(signer) })]),
    stored('placement-tls', {
      metadata: { ...stored('placement-tls').metadata, ownerReferences: [controllerReference(resource)] },
      data: encodeData(data),
    }),
  ];
  const cache = {
    get: (_kind: unknown, { name }: { name: string }) => secrets.find((one) => one.metadata.name === name),
  };
  const live = { resource, cache, now, finishedJobs: {} } as unknown as Live;
  const desired = {
    verb: 'generate',
    object: stored('placement-tls'),
    values: leaf(host),
    secretClass: 'credential',
  } as const;
  return planGenerated(live, desired, 'CredentialsReady').actions.flatMap((action) =>
    action.verb === 'update' ? action.missing : [],
  );
}

test('a certificate is made anew for other hosts and by another authority, and waits for one that can sign', () => {
  expect(renewed(own)).toEqual([]);
  expect(renewed(own, 'placement')).toEqual(['tls.crt']);
  expect(renewed(authority())).toEqual(['tls.crt']);
  expect(renewed(undefined)).toEqual([]);
  expect(renewed({ ...authority(), 'ca.crt': own['ca.crt'] ?? '' })).toEqual([]);
});
