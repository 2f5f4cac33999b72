import { auditSuffix } from '../../engine/names/names.ts';
import { bytesOf } from '../../engine/names/quantity.ts';
import { type CloudResource, foundId, idOf, type ResourceApi } from '../../engine/vocabulary/cloud-resources.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Problem } from '../../engine/vocabulary/step.ts';
import type { Layer } from '../../oslo/layers.ts';
import { servedBackends } from '../backend-memory.ts';
import type { Backend, Cinder } from './kind.ts';

/** Project and user in whose names Cinder keeps volumes of images. */
const tenant = 'cinder-internal';
const project = { kind: 'project', name: tenant };
const user = { kind: 'user', name: tenant };

/** How Cinder keeps quotas of a project. */
export const quotaApi: Readonly<Record<string, ResourceApi>> = {
  quotas: { path: '/os-quota-sets', item: 'quota_set', change: 'PUT' },
};

const caches = (context: Context<Cinder>): boolean =>
  servedBackends(context).some(({ imageCache }) => imageCache !== undefined);

/**
 * The project and the user, and no bounds for what they have: an image whose volume would go beyond a quota is not kept, and
 * the log alone tells of it (cinder.volume.manager, `_create_image_cache_volume_entry`).
 */
export function internalTenant(context: Context<Cinder>): CloudResource[] {
  if (!caches(context)) return [];
  const attributes = { domain_id: 'default', description: 'Cinder keeps volumes of images in this name.' };
  return [
    { in: 'keystoneRef', ...project, attributes, told: true },
    { in: 'keystoneRef', ...user, attributes, told: true },
    {
      in: 'cinderRef',
      kind: 'quotas',
      name: tenant,
      of: idOf(project.kind, project.name),
      attributes: { volumes: -1, gigabytes: -1 },
    },
  ];
}

/** The identifiers of both, once they are known. Cinder looks neither of them up. */
function identifiers({ resource }: Context<Cinder>): { readonly project: string; readonly user: string } | undefined {
  const [ofProject, ofUser] = [foundId(resource, project), foundId(resource, user)];
  return ofProject === undefined || ofUser === undefined ? undefined : { project: ofProject, user: ofUser };
}

/** Options of a backend with a cache, once it may have one: those of its section, and those of all of its process. */
export function imageCache(
  context: Context<Cinder>,
  { imageCache: cache }: Backend,
): { readonly section: Layer[string]; readonly process: Layer[string] } {
  const ids = identifiers(context);
  if (cache === undefined || ids === undefined) return { section: {}, process: {} };
  const { maxSize, maxCount } = cache;
  return {
    section: {
      image_volume_cache_enabled: true,
      ...(maxSize === undefined
        ? {}
        : { image_volume_cache_max_size_gb: Math.floor((bytesOf(maxSize) ?? 0) / 2 ** 30) }),
      ...(maxCount === undefined ? {} : { image_volume_cache_max_count: maxCount }),
    },
    process: { cinder_internal_tenant_project_id: ids.project, cinder_internal_tenant_user_id: ids.user },
  };
}

/** What users set by the field where a backend has it. */
export const ownedByCache = ({ imageCache: cache }: Backend): Readonly<Record<string, string>> =>
  cache === undefined
    ? {}
    : {
        image_volume_cache_enabled: 'imageCache',
        image_volume_cache_max_size_gb: 'imageCache.maxSize',
        image_volume_cache_max_count: 'imageCache.maxCount',
      };

/** What is waited for before backends have their caches. */
export function unknownTenant(context: Context<Cinder>): Readonly<Record<string, Problem>> {
  if (!caches(context) || identifiers(context) !== undefined) return {};
  const message = `waiting for the identifiers of project and user ${tenant}: the Job ${context.named('resource-create')} tells them, and each run of the CronJob ${context.named(auditSuffix)}`;
  return { ImageCacheReady: { reason: 'Waiting', message } };
}
