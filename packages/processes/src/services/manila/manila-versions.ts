import { headerOf } from '../../http.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';

/** The microversion 2.x that a request speaks; 0 where it says none. */
export function microversion({ request }: Call): number {
  const [, minor = '0'] = (headerOf(request, 'x-openstack-manila-api-version') ?? '').split('.');
  return Number(minor);
}

/** Refuses a request of a microversion that does not have what it asks for. @throws Fault 404 */
export function demandVersion(call: Call, least: number, most = Number.POSITIVE_INFINITY): void {
  const minor = microversion(call);
  if (minor < least || minor > most) throw new Fault(404, `API version 2.${minor} is not supported on this method.`);
}
