import { defineApi, type ObjectOf, type SpecOf, type StatusOf } from '../api/define-api.ts';
import { embedded } from '../api/embed.ts';
import { exposure, gatewayRef, hostname, tls } from '../api/exposure.ts';
import { nameLength } from '../api/names.ts';
import { onlyOffered } from '../api/offering.ts';
import { passwordRotationDays } from '../api/schedules.ts';
import { choice, int, object, rule } from '../api/schema.ts';
import { common, hosts, serviceEndpoints } from '../api/status.ts';
import {
  deletionPolicy,
  imagePullPolicy,
  imagePullSecrets,
  imageRegistry,
  imageTag,
  nodeNetworks,
  podPriority,
  podTolerations,
  region,
  release,
} from '../api/template.ts';
import { phases } from '../engine/status/phases.ts';
import { services } from '../services/index.ts';

const embeddedChildren = Object.fromEntries(
  services.flatMap(({ kind, child }) =>
    child === undefined ? [] : [[child.field, embedded(kind, child.description, child.optional)] as const],
  ),
);

const names = services.flatMap(({ kind: { kind }, child }) =>
  child === undefined ? [] : [`${/^[AEIO]/u.test(kind) ? 'an' : 'a'} ${kind}`],
);

function listOf(texts: readonly string[]): string {
  return `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}

/** A whole cloud. */
export const OpenStackControlPlane = defineApi({
  kind: 'OpenStackControlPlane',
  plural: 'openstackcontrolplanes',
  shortName: 'oscp',
  description: `A whole OpenStack cloud. The operator creates ${listOf(names)}, named <name>-<kind>, in the order of their dependencies.`,
  nameLength: nameLength.controlPlane,
  rules: [
    rule(
      "self.metadata.name != 'standalone'",
      'the name standalone is reserved for nodes of resources without a control plane',
      '.metadata.name',
    ),
  ],
  spec: object('Desired state of OpenStackControlPlane. An empty spec is a small cloud.', {
    region,
    release,
    storageBackend: choice(
      'Where services keep volumes and images by default: pvc on volumes of the cluster. ceph and lvm are not offered yet: say it of each service (glance.storageType, cinder.backends, nova.ephemeralStorage).',
      ['ceph', 'lvm', 'pvc'],
      { default: 'pvc', rules: [onlyOffered('storageBackend', ['pvc'])] },
    ),
    networkBackend: choice('What carries the networks: ovn. ovs is not offered yet.', ['ovn', 'ovs'], {
      default: 'ovn',
      rules: [onlyOffered('networkBackend', ['ovn'])],
    }),
    tls,
    exposure,
    gatewayRef,
    publicDomain: hostname(
      'Domain below which the APIs are reached from outside: keystone.<publicDomain>, nova.<publicDomain>, ... The public endpoints in the catalogue follow a change.',
      { default: 'openstack.local' },
    ),
    imageRegistry,
    imageTag,
    imagePullSecrets,
    imagePullPolicy,
    nodeNetworks,
    tolerations: podTolerations,
    priorityClassName: podPriority,
    deletionPolicy,
    passwordRotationDays,
    ...embeddedChildren,
  }),
  status: object('Observed state of OpenStackControlPlane.', {
    ...common,
    tls: choice(
      'What TLS of the APIs has come to. Prepared: they have ports with TLS, and all clients trust their authority. Enabled: all clients go there. It is absent where neither holds, and on the way.',
      ['Prepared', 'Enabled'],
    ),
    tlsGeneration: int('Generation of the Keystone that tls is about.', {
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
    }),
    phase: choice('Phase of the cloud.', ['Pending', ...phases, 'Ready', 'Degraded', 'Failed', 'Paused', 'Deleting']),
    endpoints: serviceEndpoints,
    claimedNodes: int('How many nodes the cloud has claimed. The field nodes lists the first 500 of them by name.', {
      minimum: 0,
      maximum: 2 ** 31 - 1,
    }),
    nodes: hosts,
  }),
});

export type OpenStackControlPlane = ObjectOf<typeof OpenStackControlPlane>;
export type OpenStackControlPlaneSpec = SpecOf<typeof OpenStackControlPlane>;
export type OpenStackControlPlaneStatus = StatusOf<typeof OpenStackControlPlane>;
