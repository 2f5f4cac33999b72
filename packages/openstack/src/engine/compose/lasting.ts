import type { Context } from '../vocabulary/context.ts';
import type { Service } from '../vocabulary/service.ts';
import type { SpecFindings } from './spec-findings.ts';

/** Fields that the status remembers. */
const mostRemembered = 64;

/** What becomes of `status.lasting`: what was stated first stays; beyond its bound, of what is not stated any more some is left out. */
export function lastingStatus(
  service: Service,
  context: Context,
): { readonly lasting?: Readonly<Record<string, string>> } {
  const { lasting } = service;
  if (lasting === undefined) return {};
  const before = context.surroundings.lasting;
  const now = Object.entries(lasting(context)).map(([field, is]) => [field, before[field] ?? is] as const);
  const stated = new Set(now.map(([field]) => field));
  const gone = Object.entries(before).filter(([field]) => !stated.has(field));
  return { lasting: Object.fromEntries([...now, ...gone].slice(0, mostRemembered)) };
}

/** Fields by which data were found, and that say something else now. */
export function lastingFindings(service: Service, context: Context): SpecFindings {
  const before = context.surroundings.lasting;
  const problems = Object.entries(service.lasting?.(context) ?? {}).flatMap(([field, is]) => {
    const was = before[field];
    if (was === undefined || was === is) return [];
    const message = `${field}: it was ${was} before (status.lasting), and is ${is} now: data that are found by it are out of reach; state what it was, or another name`;
    return [{ reason: 'SpecRefused', message } as const];
  });
  return { problems };
}
