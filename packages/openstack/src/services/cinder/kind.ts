import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { onlyOffered } from '../../api/offering.ts';
import { recordsAudit } from '../../api/schedules.ts';
import { bool, choice, type Infer, object, required, string } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { storage } from '../../api/storage.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { poolName } from '../../infrastructure/ceph/kind.ts';
import { cephStorageRef } from '../../infrastructure/ceph/reference.ts';
import { backendsField, defaultBackend, isOf, knownDefault, references, single } from '../backend-fields.ts';

/** Sections of cinder.conf whose names are names of backends, too. */
export const taken = [
  'backend',
  'barbican',
  'coordination',
  'cors',
  'database',
  'fc-zone-manager',
  'healthcheck',
  'nova',
  'privsep',
  'profiler',
  'ssl',
  'vault',
];

const backends = backendsField({
  description:
    'Backends: where volumes are kept. Each has a process and a volume type of its name. One that is removed leaves its volumes where they are, and out of reach.',
  named: 'its volume type',
  file: 'cinder.conf',
  taken,
  type: choice(
    'What keeps its volumes: ceph, or custom, any driver of Cinder by its options. lvm is not offered yet.',
    ['custom', 'ceph', 'lvm'],
    { rules: [onlyOffered('type', ['ceph', 'custom'])] },
  ),
  fields: {
    cephPoolName: poolName('Pool (RBD) of the volumes, in the cluster of cephStorageRef, for type ceph.'),
    lvmVolumeGroup: string('Volume group, for type lvm.', { maxLength: 128, minLength: 1 }),
    rootHelpers: bool(
      'Whether its process may run helpers as root, with capabilities such as SYS_ADMIN: volumes of images that are not raw and of encrypted types need it, and drivers that mount or attach.',
      { fallback: false },
    ),
  },
  fixed: { fields: { cephPoolName: "''" }, why: 'its volumes are recorded under them, or lie there' },
  backendHost: 'What its volumes are recorded under, as backendHost@name; state that of a cloud that is adopted.',
  rules: isOf(['ceph'], 'cephPoolName'),
});

const backup = object('Copies of volumes in another place (component backup). If absent, there are none.', {
  type: required(
    choice(
      'Where copies are kept: in a pool of Ceph, on a volume of the cluster, or custom, where any driver of Cinder keeps them (S3, Swift, NFS) by its options.',
      ['ceph', 'pvc', 'custom'],
    ),
  ),
  cephPoolName: poolName('Pool (RBD) of the copies, in the cluster of cephStorageRef, for type ceph.', {
    fallback: 'backups',
  }),
  storage: storage('Volume of the copies, for type pvc.', '10Gi'),
  config: config('cinder.conf'),
});

/** Block storage. */
export const Cinder = defineApi({
  kind: 'Cinder',
  plural: 'cinders',
  shortName: 'osci',
  description: 'Block storage: volumes, which outlive the servers that they are attached to.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of Cinder.',
    {
      ...template({
        main: 'the API',
        components: ['api', 'scheduler', 'volume', 'backup'],
        single: single('volume', 'backup'),
        wsgi: ['api'],
      }),
      ...api('cinder'),
      release,
      region,
      ...references,
      cephStorageRef: cephStorageRef('volumes and their copies'),
      database: database('cinder', ['cinder']),
      messageQueue: messageQueue('cinder'),
      identity: identity('cinder'),
      backends: required(backends),
      defaultBackend: defaultBackend('volumes'),
      backup,
      recordsAudit,
      config: config('cinder.conf'),
      policy,
      unknownOptions,
    },
    { rules: [knownDefault] },
  ),
  status: object('Observed state of Cinder.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Cinder = ObjectOf<typeof Cinder>;
export type CinderSpec = SpecOf<typeof Cinder>;
export type CinderStatus = StatusOf<typeof Cinder>;
export type Backend = Infer<typeof backends>[number];
