import type { CloudResource, ResourceApi } from '../../engine/vocabulary/cloud-resources.ts';
import { backendsOf, backendTypes } from '../backends.ts';
import { typeSpecs, words } from './configuration.ts';
import type { Manila, ShareType } from './kind.ts';

const made: ResourceApi = {
  path: '/types',
  // Without the filter it lists public ones only.
  list: '/types?is_public=all',
  item: 'share_type',
  // Below 2.24 a type that says nothing of snapshots promises them.
  headers: { 'X-OpenStack-Manila-API-Version': '2.65' },
};

/** How Manila keeps types of shares: those of backends stay as they were made, those that are stated are changed with them. */
export const shareTypeApi: Readonly<Record<string, ResourceApi>> = {
  'share type': made,
  'stated share type': {
    ...made,
    change: 'PUT',
    writes: { extra_specs: { method: 'POST', path: '/types/{id}/extra_specs' } },
  },
};

/** The type of each backend, and those that are stated. */
export function shareTypes(spec: Partial<Manila['spec']>): CloudResource[] {
  const backends = backendsOf(spec);
  const ofBackends = backendTypes(words, backends, { in: 'manilaRef', kind: 'share type', specs: typeSpecs });
  return [...ofBackends, ...(spec.shareTypes ?? []).map((type) => stated(spec, type))];
}

function stated(spec: Partial<Manila['spec']>, type: ShareType): CloudResource {
  const { name, description, isPublic = true, extraSpecs = {} } = type;
  return {
    in: 'manilaRef',
    kind: 'stated share type',
    name,
    attributes: {
      ...(description === undefined ? {} : { description }),
      'share_type_access:is_public': isPublic,
      extra_specs: { ...placed(spec, type), ...extraSpecs },
    },
  };
}

/** What leads to its backend, with what the type of that one promises of snapshots, unless extraSpecs say it. */
function placed(
  spec: Partial<Manila['spec']>,
  { backend: sought, driverHandlesShareServers = false, extraSpecs = {} }: ShareType,
): Record<string, string> {
  const backend = backendsOf(spec).find(({ name }) => name === sought);
  if (backend === undefined) return { driver_handles_share_servers: driverHandlesShareServers ? 'True' : 'False' };
  const promised = Object.entries({ [words.label]: backend.name, ...typeSpecs(backend) });
  const ofSnapshots = (key: string) => key.endsWith('snapshot_support');
  return Object.fromEntries(promised.filter(([key]) => !('snapshot_support' in extraSpecs && ofSnapshots(key))));
}
