import { type Layer, layered } from '../../oslo/layers.ts';
import type { Context } from './context.ts';
import type { ConfigFiles, OsloSource, Service } from './service.ts';

/** Whose options a peer sets. */
export interface Configured {
  readonly context: Context;
  /** Name of the peer's resource: it need not exist yet. */
  readonly peer: string;
}

/** Options of a service's oslo.config files, by the name of the file, such as `nova.conf`. */
export type PeerOptions = (configured: Configured) => Readonly<Record<string, Layer>>;

/**
 * The sets of configuration of a definition, with what the peers that are in the same cloud say of its files. A section
 * that a set does not take of users it does not take of peers.
 * @throws Error when a peer says something of a file that no set has: a mistake in its definition
 */
export function withPeers(
  service: Service,
  context: Context,
  sets: Readonly<Record<string, ConfigFiles>>,
): Readonly<Record<string, ConfigFiles>> {
  const said = (service.peers ?? []).flatMap((peer) => {
    const name = context.surroundings.peer(peer.kind.kind);
    return name === undefined
      ? []
      : [[peer, peer.configures?.[service.name]?.({ context, peer: name }) ?? {}] as const];
  });
  if (said.length === 0) return sets;
  const found = new Set<string>();
  const result = mapFiles(sets, (file, source) => {
    found.add(file);
    const { takes = () => true } = source;
    const layers = said.map(([, files]) =>
      Object.fromEntries(Object.entries(files[file] ?? {}).filter(([section]) => takes(section))),
    );
    return { ...source, oslo: layered(source.oslo, ...layers) };
  });
  for (const [peer, files] of said) {
    const missing = Object.keys(files).find((file) => !found.has(file));
    if (missing !== undefined)
      throw new Error(`${peer.name}: configures ${missing}, which ${service.name} does not have`);
  }
  return result;
}

function mapFiles(
  sets: Readonly<Record<string, ConfigFiles>>,
  map: (file: string, source: OsloSource) => OsloSource,
): Record<string, ConfigFiles> {
  return Object.fromEntries(
    Object.entries(sets).map(([name, files]) => [
      name,
      Object.fromEntries(
        Object.entries(files).map(([path, content]) => [
          path,
          typeof content === 'string' || 'format' in content
            ? content
            : map(path.slice(path.lastIndexOf('/') + 1), content),
        ]),
      ),
    ]),
  );
}
