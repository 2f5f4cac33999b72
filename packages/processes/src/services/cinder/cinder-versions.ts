import { headerOf } from '../../http.ts';
import type { Call } from '../../model/api.ts';

/** The microversion 3.x that a request speaks. */
export function microversion({ request }: Call): number {
  const [, minor = '0'] = /volume 3\.(\d+)/.exec(headerOf(request, 'openstack-api-version') ?? '') ?? [];
  return Number(minor);
}
