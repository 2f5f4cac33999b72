import { subdomain } from './names.ts';
import { type Field, int, nameOf, object, required, rule, string } from './schema.ts';

/** The name of an object in the same namespace. */
export const objectName = (what: string, otherwise?: string) =>
  string(what, { maxLength: 253, minLength: 1, form: subdomain, ...(otherwise === undefined ? {} : { otherwise }) });

/** The name of a Secret in the same namespace, which its user brings; `otherwise`: which one else. */
export const secretName = (what: string, otherwise?: string) => nameOf('Secret', objectName(what, otherwise));

/** The name of a ConfigMap in the same namespace, which its user brings. */
export const nameOfConfigMap = (what: string) => nameOf('ConfigMap', objectName(what));

/** A host name or an address. */
export const host = (what: string) =>
  string(what, {
    maxLength: 253,
    minLength: 1,
    form: { pattern: '^[A-Za-z0-9:.-]+$', expected: 'a host name or an address, without port and without //' },
  });
/** A TCP port; `fallback`: which one else, or on what it depends. */
export const port = (what: string, fallback: number | string) =>
  int(what, {
    minimum: 1,
    maximum: 65_535,
    ...(typeof fallback === 'number' ? { fallback } : { otherwise: fallback }),
  });

/**
 * A reference: the name of a `kind` in the same namespace, or how to reach one that this operator does not run; `otherwise`:
 * what is meant where it is absent.
 */
export function reference<T>(
  what: string,
  kind: string,
  external: Field<T, false>,
  otherwise = `the only ${kind} in the namespace; below a control plane, its own`,
) {
  return object(
    what,
    { name: objectName(`Name of a ${kind} in the same namespace.`), external },
    {
      rules: [rule('has(self.name) != has(self.external)', 'exactly one of name and external has to be set')],
      otherwise,
    },
  );
}

/** A reference to another service of the same cloud, which this operator runs. */
export const serviceRef = (kind: string, purpose: string) =>
  object(
    `The ${kind} ${purpose}.`,
    { name: required(objectName(`Name of a ${kind} in the same namespace.`)) },
    { otherwise: `the only ${kind} in the namespace; below a control plane, its own` },
  );
