import type { Place } from './schema.ts';

/** The texts of a spec at a place that its schema names, each with its path, such as `spec.auth.secretName`. */
export function textsAt(spec: unknown, { path }: Place, at = 'spec'): { readonly text: string; readonly at: string }[] {
  const [segment, ...rest] = path;
  if (segment === undefined) return typeof spec === 'string' ? [{ text: spec, at }] : [];
  if (typeof spec !== 'object' || spec === null) return [];
  const below = (name: string) => (Array.isArray(spec) ? `${at}[${name}]` : `${at}.${name}`);
  return Object.entries(spec)
    .filter(([name]) => segment === '*' || name === segment)
    .flatMap(([name, inner]) => textsAt(inner, { path: rest }, below(name)));
}
