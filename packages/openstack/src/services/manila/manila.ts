import type { CatalogueEntry } from '../../engine/vocabulary/identity.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { backendWayOut, rememberedBackends, servedBackends, stayingBackends } from '../backend-memory.ts';
import { alone, apiOf, backendComponents, backendsOf, dependsOn, ownedBy, refusedBy, worker } from '../backends.ts';
import {
  configSets,
  counting,
  fileSystemsOf,
  isInCeph,
  lasting,
  problemsOf,
  shares,
  usesCeph,
  words,
} from './configuration.ts';
import { Manila } from './kind.ts';
import { shareTypeApi, shareTypes } from './share-types.ts';

/** Shares: an API, a scheduler, a process for each backend, and one that copies data. */
export const manila = defineService<Manila>({
  kind: Manila,
  offers: {
    manilaRef: {
      resources: shareTypeApi,
    },
  },
  child: { field: 'manila', phase: 'ExtendedServices', description: 'Shared file systems.', optional: true },
  name: 'manila',
  user: 'manila',
  dependsOn: {
    ...dependsOn,
    cephStorageRef: { stated: usesCeph, asks: (spec) => ({ fileSystems: fileSystemsOf(spec) }), keeps: isInCeph },
  },
  databases: [{ name: 'manila' }],
  connections: (spec) => ({
    api: { pools: 1 },
    scheduler: { processes: 1, pools: 1 },
    share: { processes: 2 * backendsOf(spec).length, pools: 1 },
    data: { processes: 1, pools: 1 },
  }),
  messaging: true,
  identity: {
    users: [{ name: 'manila', roles: ['admin', 'service'], owns: 'key pairs of share servers' }],
    catalogue: [entry('shared-file-system', 'manila'), entry('sharev2', 'manilav2')],
  },
  resources: ({ spec }) => shareTypes(spec),
  owned: ownedBy({
    enabled_share_backends: 'spec.backends',
    default_share_type: 'spec.defaultBackend or spec.defaultShareType',
  }),
  single: () => ['share', 'data'],
  config: configSets,
  components: (context) => ({
    api: apiOf(words, 'manila.wsgi.wsgi:initialize_application()', 8786),
    scheduler: worker(words, context, 'scheduler', '192Mi'),
    ...backendComponents(words, servedBackends(context), () => ({
      ...worker(words, context, 'share', '320Mi'),
      replicas: context.spec.shareReplicas ?? 1,
    })),
    data: { ...worker(words, context, 'data', '192Mi'), ...alone('data') },
  }),
  lasting,
  wayOut: backendWayOut,
  remembers: rememberedBackends,
  heldBy: { counts: [shares] },
  staying: (context) => stayingBackends(words, context, counting),
  migrate: () => ({ image: 'manila-api', sync: ['manila-manage', 'db', 'sync'], check: ['manila-status'] }),
  problems: (context) => refusedBy(problemsOf(context)),
});

function entry(type: string, name: string): CatalogueEntry {
  return { type, name, description: 'OpenStack Shared File Systems', component: 'api', port: 'api', path: '/v2' };
}
