import { apiVersionOf, defineKind } from '@openstack-operator/kube';
import { defineApi, type ObjectOf } from '../../../packages/openstack/src/api/define-api.ts';
import { api } from '../../../packages/openstack/src/api/exposure.ts';
import { nameLength } from '../../../packages/openstack/src/api/names.ts';
import { object } from '../../../packages/openstack/src/api/schema.ts';
import { cloud, common, nodes, phase } from '../../../packages/openstack/src/api/status.ts';
import { dataConfig, release, template } from '../../../packages/openstack/src/api/template.ts';
import { cloudLabel, labelsOf } from '../../../packages/openstack/src/engine/names/names.ts';
import { publishing } from '../../../packages/openstack/src/engine/vocabulary/access.ts';
import type { Component } from '../../../packages/openstack/src/engine/vocabulary/component.ts';
import { roleClaims, roleLabel } from '../../../packages/openstack/src/engine/vocabulary/node-groups.ts';
import { defineService } from '../../../packages/openstack/src/engine/vocabulary/service.ts';
import { nodeCleaner } from '../../../packages/openstack/src/infrastructure/node-cleaning.ts';
import { secretReference } from '../../../packages/openstack/src/oslo/references.ts';

const Depot = defineApi({
  kind: 'Depot',
  plural: 'depots',
  shortName: 'osdp',
  description: 'A made-up service that stands alone.',
  nameLength: nameLength.service,
  spec: object('Desired state of Depot.', {
    ...template({ main: 'the gate', components: ['gate', 'volume', 'backup'], nodeAgents: ['backup'] }),
    ...api('depot'),
    config: dataConfig('polling.yaml'),
    release,
  }),
  status: object('Observed state of Depot.', { ...common, phase, cloud, nodes }),
  columns: [],
});

/** A kind of Rook. */
export const ObjectStore = defineKind('ceph.rook.io/v1', 'CephObjectStore', 'cephobjectstores');

/** What of its programs counts here is that they run. */
const waits = { image: 'placement-api', runs: { script: 'exec sleep infinity\n' } } as const;

/** A service that this version does not have, with the words of pods, nodes and files that the others do not use. */
export const depot = defineService<ObjectOf<typeof Depot>>({
  kind: Depot,
  child: { field: 'depot', phase: 'ExtendedServices', description: 'The depot.' },
  nodeGroups: () => ({ role: { name: 'storage', apartFrom: ['compute'] }, groups: [{ name: 'default' }] }),
  name: 'depot',
  user: 'placement',
  dependsOn: {},
  usesNodes: true,
  // Both nodes store, one of them backs up as well; none that proxies would do either.
  claims: ({ resource, spec, release }) =>
    roleClaims(
      resource,
      [
        { role: { name: 'storage' }, groups: [{ name: 'default' }] },
        { role: { name: 'backup' }, groups: [{ name: 'slow', replicas: 1 }] },
        { role: { name: 'proxy', apartFrom: ['storage', 'backup'] }, groups: [{ name: 'default', replicas: 0 }] },
      ],
      { cleaner: nodeCleaner(resource, { service: 'depot', spec, release }) },
    ),
  groups: () => [],
  secrets: () => [
    { suffix: 'key', values: { key: { type: 'password', length: 32 } }, secretClass: 'credential' },
    {
      suffix: 'tls',
      values: {
        'ca.key': { type: 'privateKey' },
        'ca.crt': { type: 'certificate', key: 'ca.key', commonName: 'depot', seconds: 3650 * 86_400, authority: true },
        'tls.key': { type: 'privateKey' },
        'tls.crt': {
          type: 'certificate',
          key: 'tls.key',
          commonName: 'gate',
          // One hour.
          seconds: 3600,
          dnsNames: ['gate.example.org'],
          signedBy: { certificate: 'ca.crt', key: 'ca.key' },
        },
        id_ed25519: { type: 'sshPrivateKey' },
        'id_ed25519.pub': { type: 'sshPublicKey', key: 'id_ed25519', comment: 'depot' },
        'rndc.key': { type: 'rndcKey', name: 'depot' },
      },
      secretClass: 'credential',
    },
  ],
  config: ({ named }) => ({
    main: {
      '/etc/depot/polling.yaml': {
        format: 'yaml',
        data: { sources: [{ name: 'all', interval: 300, meters: ['*'] }], limits: { cpu: 1, disk: 2 } },
      },
      '/etc/depot/local_settings.py': {
        format: 'python',
        data: { DEBUG: false, SECRET_KEY: secretReference(named('key'), 'key'), SITE: { name: 'Depot', links: [] } },
        owned: { SECRET_KEY: 'nothing: it is generated' },
      },
    },
  }),
  jobs: () => [
    {
      suffix: 'rings',
      step: 'RingsReady',
      image: 'placement-api',
      runs: [{ name: 'build', script: 'echo run >> /artifact/object.ring\n' }],
      mounts: [{ path: '/artifact', scratch: true }],
      makes: { suffix: 'rings', files: ['/artifact/object.ring'], data: 'where objects lie', from: '/artifact' },
      again: { cron: '*/10 * * * *', suspend: false, deadlineSeconds: 600 },
    },
  ],
  needs: { DeploymentReady: ['RingsReady'] },
  access: {
    rings: [publishing('rings')],
    volume: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'], own: ['tls'] }],
  },
  foreignKinds: [{ kind: ObjectStore, servedBy: 'Rook 1.15 or later', done: { field: 'phase', value: 'Ready' } }],
  objects: ({ named, namespace, name }) => ({
    StoreReady: [
      {
        verb: 'apply',
        object: {
          apiVersion: apiVersionOf(ObjectStore),
          kind: ObjectStore.kind,
          metadata: { name: named('store'), namespace, labels: labelsOf('depot', name) },
          spec: { gateway: { port: 80, instances: 1 } },
        },
      },
    ],
  }),
  volumes: () => [{ suffix: 'shared', size: '1Gi', accessMode: 'ReadWriteMany' }],
  components: ({ named, cloud }): Record<string, Component> => ({
    gate: {
      ...waits,
      workload: 'Deployment',
      replicas: 2,
      host: { network: true },
      mounts: [{ path: '/var/lib/depot', claim: named('shared') }],
      ports: { tftp: 6900 },
      udp: ['tftp'],
      exposed: 'tftp',
      reachable: 'anyone',
    },
    backup: {
      ...waits,
      workload: 'DaemonSet',
      step: 'AgentsReady',
      nodeAgent: { nodes: { [cloudLabel]: cloud, [roleLabel('backup')]: 'slow' } },
      host: { network: true },
    },
    volume: {
      ...waits,
      workload: 'StatefulSet',
      user: 'root',
      host: { network: true, ipc: true, capabilities: ['SYS_ADMIN'] },
      mounts: [
        { path: '/run/lock/iscsi', host: 'DirectoryOrCreate' },
        { path: '/etc/depot/object.ring', secret: named('rings'), key: 'object.ring' },
      ],
    },
  }),
});
