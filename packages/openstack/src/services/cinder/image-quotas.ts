import { type CloudResource, idOf } from '../../engine/vocabulary/cloud-resources.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { inCinder } from '../glance/stores.ts';
import type { Cinder } from './kind.ts';

/** The project of all services, Glance among them. */
const services = { kind: 'found project', name: 'service' };

/**
 * No bounds for Glance's project, where Glance keeps images as volumes: by default Cinder lets a project have ten of them, and
 * `user_storage_quota` of Glance is what limits users.
 */
export function imageQuotas({ surroundings }: Context<Cinder>): CloudResource[] {
  if (!inCinder(surroundings.peerSpec('Glance') ?? {})) return [];
  const { name } = services;
  return [
    { in: 'keystoneRef', ...services, attributes: { name } },
    {
      in: 'cinderRef',
      kind: 'quotas',
      name,
      of: idOf(services.kind, name),
      attributes: { volumes: -1, gigabytes: -1 },
    },
  ];
}
