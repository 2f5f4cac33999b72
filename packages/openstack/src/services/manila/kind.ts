import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { atMost, notOffered } from '../../api/offering.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { array, bool, choice, type Infer, int, map, object, required, rule, string } from '../../api/schema.ts';
import { common, endpoints, lasting, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { fileSystemName } from '../../infrastructure/ceph/kind.ts';
import { cephStorageRef } from '../../infrastructure/ceph/reference.ts';
import { backendsField, defaultBackend, isOf, onlyFor, references, single, typeRules } from '../backend-fields.ts';

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

const text = (what: string, options: { otherwise?: string } = {}) =>
  string(what, { maxLength: 128, minLength: 1, ...options });

const shareTypes = array(
  'Types of shares, beside those of the backends. One that is removed here stays in Manila: shares may be of it. Its name, and what others add to it, are left alone.',
  object(
    'One type.',
    {
      name: required(text('Its name.')),
      description: text('What it is for.'),
      backend: text(
        'Name of the backend of its shares. If absent, the scheduler takes any that has what extraSpecs ask for.',
      ),
      isPublic: bool('Whether all projects see it; else administrators say who does.', { fallback: true }),
      driverHandlesShareServers: bool(
        'Whether the driver makes a share server for each share network of its shares, where no backend is named.',
        { fallback: false },
      ),
      extraSpecs: map(
        'What a backend has to have, or its driver does. With snapshot_support, the type says no more of snapshots than what stands here; without it, it promises the same as the type of its backend.',
        string('Its value.', { minLength: 1, maxLength: 255 }),
        {
          maxProperties: 64,
          rules: [
            // manila.api.common.VALID_KEY_NAME_REGEX
            rule(
              "self.all(key, key.matches('^[a-zA-Z0-9_.:-]{1,255}$'))",
              "expected keys of letters, digits, '_', '.', ':' and '-'",
            ),
            rule("!('share_backend_name' in self)", 'set backend of the type instead of share_backend_name'),
            rule(
              "!('driver_handles_share_servers' in self)",
              'set backend or driverHandlesShareServers of the type instead of driver_handles_share_servers',
            ),
          ],
        },
      ),
    },
    {
      rules: [
        rule(
          '!has(self.backend) || !has(self.driverHandlesShareServers)',
          'follows from backend: leave out one of the two',
          '.driverHandlesShareServers',
        ),
      ],
    },
  ),
  { maxItems: 64, keys: ['name'] },
);

const alone = single('share', 'data');

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
        single: alone,
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
      backend: choice('Type of the only backend. Not offered: state backends.', ['cephfs', 'nfs', 'netapp'], {
        rules: [
          notOffered('backend', 'state a list, such as backends: [{name: cephfs, type: cephfs, cephFSName: cephfs}]'),
        ],
      }),
      cephFSPoolName: string('Data pool of a filesystem. Not offered: state cephFSName of a backend.', {
        maxLength: 128,
        rules: [
          notOffered(
            'cephFSPoolName',
            'Manila names a filesystem and no pool of it; state cephFSName of an entry of backends',
          ),
        ],
      }),
      shareReplicas: int(
        'How many pods of the component share run for each backend: one, or none. What components says of it overrides this.',
        {
          minimum: 0,
          maximum: 100,
          fallback: 1,
          rules: [atMost(1, 'shareReplicas', alone.reason)],
        },
      ),
      shareTypes,
      defaultShareType: text('Name of one of shareTypes, which shares have that ask for none.', {
        otherwise: 'that of defaultBackend',
      }),
      recordsAudit,
      passwordRotationDays,
      config: config('manila.conf'),
      policy,
      unknownOptions,
    },
    { rules: typeRules('shareTypes', 'defaultShareType') },
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
export type ShareType = Infer<typeof shareTypes>[number];
