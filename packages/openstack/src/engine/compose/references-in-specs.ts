import type { KubeObject } from '@openstack-operator/kube';
import type { ServiceResource, Surroundings } from '../vocabulary/surroundings.ts';

/** How a reference to a Secret begins in what is composed (oslo/references.ts). */
const opening = '{{';

/**
 * What keeps a resource from being composed: texts that users wrote, of its own spec, of what it refers to and of its peers,
 * that hold what would be filled with a Secret where it is written. Who may write resources need not be one who may read
 * Secrets. `watched` are the surroundings to compose with: `findings` tells of what was asked of them until then.
 */
export function referencesInSpecs(
  resource: ServiceResource,
  surroundings: Surroundings,
): { readonly watched: Surroundings; readonly findings: () => readonly string[] } {
  const found = new Set<string>();
  const look = (value: unknown, path: string): void => {
    const at = openingIn(value);
    if (at !== undefined)
      found.add(
        `${path}${at}: holds "${opening}", by which the operator refers to Secrets: write it without; an option takes its value from a Secret by secretKeyRef: { name, key }`,
      );
  };
  look(resource.spec, 'spec');
  look(surroundings.remembered, 'entries of the ConfigMap of status.lasting');
  return {
    watched: {
      ...surroundings,
      reference(field) {
        const resolved = surroundings.reference(field);
        if (resolved !== undefined && 'found' in resolved) lookInto(resolved.found, look);
        return resolved;
      },
      peerSpec(kind) {
        const spec = surroundings.peerSpec(kind);
        look(spec, `${kind} ${surroundings.peer(kind) ?? ''}: spec`);
        return spec;
      },
      peerEndpoint(kind) {
        const endpoint = surroundings.peerEndpoint(kind);
        look({ apiEndpoint: endpoint }, `${kind} ${surroundings.peer(kind) ?? ''}: status`);
        return endpoint;
      },
      peerRemembered(kind) {
        const remembered = surroundings.peerRemembered(kind);
        look(remembered, `${kind} ${surroundings.peer(kind) ?? ''}: entries of the ConfigMap of status.lasting`);
        return remembered;
      },
    },
    findings: () => [...found],
  };
}

/** Of another resource: what users say, and what its Jobs have found by that. */
function lookInto({ kind, metadata, spec, status }: KubeObject, look: (value: unknown, path: string) => void): void {
  look(spec, `${kind} ${metadata.name}: spec`);
  look((status as { found?: unknown } | undefined)?.found, `${kind} ${metadata.name}: status.found`);
}

/** What is known of objects of the cache, which never change: each is looked through once. */
const known = new WeakMap<object, { readonly at: string | undefined }>();

/** The path below a value of a text or key that holds the opening. */
function openingIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const before = known.get(value);
  if (before !== undefined) return before.at;
  const at = pathIn(value);
  known.set(value, { at });
  return at;
}

/** Without recursion: a file may be nested as deeply as it likes. */
function pathIn(whole: object): string | undefined {
  const open: { readonly value: unknown; readonly path: string }[] = [{ value: whole, path: '' }];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const { value, path } = one;
    if (typeof value === 'string' && value.includes(opening)) return path;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, part] of Object.entries(value)) {
      const at = `${path}${stepTo(key, Array.isArray(value))}`;
      if (key.includes(opening)) return at;
      open.push({ value: part, path: at });
    }
  }
  return undefined;
}

function stepTo(key: string, isIndex: boolean): string {
  if (isIndex) return `[${key}]`;
  return /^[A-Za-z0-9_-]+$/u.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, longestShown))}]`;
}

/** Characters of a key that a message shows. */
const longestShown = 100;
