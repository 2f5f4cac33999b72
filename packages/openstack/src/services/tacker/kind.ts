import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { atMost } from '../../api/offering.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { bool, choice, int, object, rule } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { storage } from '../../api/storage.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef, coordinationRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { barbicanRef } from '../barbican/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

/** Why there is one pod at most, where that is so. */
export const whySingle =
  'replicas of server is at most 1 with storageAccessMode ReadWriteOnce: packages lie on a volume that one pod at a time can use';

// What a control plane says of components is not typed: the composition looks at that (tacker.ts).
const single = rule(
  "!has(self.replicas) || self.replicas <= 1 || (has(self.storageAccessMode) && self.storageAccessMode == 'ReadWriteMany')",
  whySingle,
  '.replicas',
);

const someRole = rule(
  '!has(self.enableVNFM) || self.enableVNFM || !has(self.enableNFVO) || self.enableNFVO',
  'enableVNFM and enableNFVO cannot both be false: no API would be left',
  '.enableVNFM',
);

/** Network functions. */
export const Tacker = defineApi({
  kind: 'Tacker',
  plural: 'tackers',
  shortName: 'osta',
  description: 'Network functions: packages that describe them, and where they are deployed, by Heat or in Kubernetes.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of Tacker.',
    {
      ...template({
        main: 'the server',
        components: ['server'],
        images: ['conductor', 'tls-proxy'],
      }),
      conductorReplicas: int(
        'How many conductors run in each pod of the server: they deploy network functions, and unpack packages for that server. Without one packages are kept and never unpacked.',
        {
          minimum: 0,
          maximum: 100,
          fallback: 1,
          rules: [
            atMost(1, 'conductorReplicas', 'a server reads what the conductor beside it has unpacked; raise replicas'),
          ],
        },
      ),
      enableVNFM: bool(
        'Whether the API manages network functions: their instances, alarms and measures (vnflcm, vnffm, vnfpm).',
        { fallback: true },
      ),
      enableNFVO: bool(
        'Whether the API has packages and VIMs, the clouds that network functions are deployed in (vnfpkgm, v1.0). Without it they are those of another orchestrator, which options of the section v2_nfvo name.',
        { fallback: true },
      ),
      vimKeyStore: choice(
        'Where the key is kept with which the password of a VIM is encrypted in the database: in a file on the volume, or by the key manager, as a secret of the user of Tacker. VIMs that are there already keep theirs where it is.',
        ['volume', 'barbican'],
        { fallback: 'volume' },
      ),
      ...api('tacker'),
      release,
      region,
      databaseRef,
      messageQueueRef,
      cacheRef,
      coordinationRef,
      keystoneRef,
      barbicanRef: barbicanRef('the keys of VIMs'),
      database: database('tacker', ['tacker']),
      messageQueue: messageQueue('tacker'),
      identity: identity('tacker'),
      storage: storage('Volume of the packages, and of the keys of VIMs.', '10Gi'),
      storageAccessMode: choice(
        'Who can use the volume: one pod, or several with a StorageClass that offers that.',
        ['ReadWriteOnce', 'ReadWriteMany'],
        { fallback: 'ReadWriteOnce', immutable: 'ReadWriteOnce' },
      ),
      recordsAudit,
      passwordRotationDays,
      config: config('tacker.conf'),
      policy,
      unknownOptions,
    },
    { rules: [single, someRole] },
  ),
  status: object('Observed state of Tacker.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Tacker = ObjectOf<typeof Tacker>;
export type TackerSpec = SpecOf<typeof Tacker>;
export type TackerStatus = StatusOf<typeof Tacker>;
