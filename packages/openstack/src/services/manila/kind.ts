import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { bool, choice, type Infer, object, required } from '../../api/schema.ts';
import { common, endpoints, lasting, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { fileSystemName } from '../../infrastructure/ceph/kind.ts';
import { cephStorageRef } from '../../infrastructure/ceph/reference.ts';
import { backendsField, defaultBackend, isOf, knownDefault, onlyFor, references, single } from '../backend-fields.ts';

/** Sections of manila.conf whose names are names of backends, too. */
export const taken =
  'api cinder coordination cors database glance healthcheck neutron nova privsep profiler quota ssl'.split(' ');

const backends = backendsField({
  description:
    'Backends: where shares are kept. Each has a process and a share type of its name. One that is removed keeps its process for as long as shares or share servers lie on it.',
  named: 'its share type',
  file: 'manila.conf',
  taken,
  type: choice(
    'What keeps its shares: cephfs, which clients mount by the protocol of Ceph; nfs, the same through an NFS-Ganesha of the Ceph cluster; generic, servers of Nova with volumes of Cinder; netapp; or custom, any driver of Manila. All but cephfs need options of their driver.',
    ['custom', 'cephfs', 'nfs', 'generic', 'netapp'],
  ),
  fields: {
    cephFSName: fileSystemName(
      'Filesystem (CephFS) of the shares, in the cluster of cephStorageRef, for types cephfs and nfs.',
    ),
    shareServers: bool(
      'Whether its driver makes a share server for each share network (driver_handles_share_servers), for types netapp and custom.',
      { fallback: false },
    ),
  },
  fixed: {
    fields: { cephFSName: "''", shareServers: 'false' },
    why: 'its shares are recorded under them, or lie there',
  },
  backendHost: 'What its shares are recorded under, as backendHost@name; state that of a cloud that is adopted.',
  rules: [...isOf(['cephfs', 'nfs'], 'cephFSName'), onlyFor(['netapp', 'custom'], 'shareServers')],
});

/** Shared file systems. */
export const Manila = defineApi({
  kind: 'Manila',
  plural: 'manilas',
  shortName: 'osma',
  description: 'Shared file systems: shares, which many servers mount at a time.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of Manila.',
    {
      ...template({
        main: 'the API',
        components: ['api', 'scheduler', 'share', 'data'],
        single: single('share', 'data'),
        wsgi: ['api'],
      }),
      ...api('manila'),
      release,
      region,
      ...references,
      cephStorageRef: cephStorageRef('shares'),
      database: database('manila', ['manila']),
      messageQueue: messageQueue('manila'),
      identity: identity('manila'),
      backends: required(backends),
      defaultBackend: defaultBackend('shares'),
      recordsAudit,
      passwordRotationDays,
      config: config('manila.conf'),
      policy,
      unknownOptions,
    },
    { rules: [knownDefault] },
  ),
  status: object('Observed state of Manila.', { ...common, phase, ...endpoints, lasting }),
  columns: [
    { name: 'Backend', type: 'string', jsonPath: '.spec.backends[0].type', description: 'Type of the first backend' },
    endpointColumn,
  ],
});

export type Manila = ObjectOf<typeof Manila>;
export type ManilaSpec = SpecOf<typeof Manila>;
export type ManilaStatus = StatusOf<typeof Manila>;
export type Backend = Infer<typeof backends>[number];
