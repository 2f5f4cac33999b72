import { overlaid } from '../../formats/data.ts';
import { type Layer, layered } from '../../oslo/layers.ts';
import { fixed } from '../configuration/user-config.ts';
import type { ConfigFiles, DataSource, OsloSource } from './config-files.ts';
import type { Context } from './context.ts';
import type { Service } from './service.ts';

/** Whose options a peer sets. */
export interface Configured {
  readonly context: Context;
  /** Name of the peer's resource: it need not exist yet. */
  readonly peer: string;
}

/**
 * Options of a service's files, by the name of the file, such as `nova.conf`. Over those of an oslo.config file users lay
 * theirs; in a file of data they cannot set them.
 */
export type PeerOptions = (configured: Configured) => Readonly<Record<string, Layer>>;

/**
 * The sets of configuration of a definition, with what the peers that are in the same cloud say of its files. A section
 * of an oslo.config file that a set does not take of users it does not take of peers.
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
    if ('format' in source) {
      const heard = said.flatMap(([peer, { [file]: layer }]) => (layer === undefined ? [] : [[peer, layer] as const]));
      return heard.length === 0 ? source : withSaid(source, heard);
    }
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

/** A file of data with what peers say of it. */
function withSaid(source: DataSource, said: readonly (readonly [Service, Layer])[]): DataSource {
  const owned = said.flatMap(([{ kind }, layer]) =>
    Object.entries(layer).flatMap(([section, options]) =>
      Object.keys(options).map((option) => [`${section}.${option}`, `${fixed}what ${kind.kind} needs`] as const),
    ),
  );
  return {
    ...source,
    data: overlaid(source.data, ...said.map(([, layer]) => layer)),
    owned: { ...Object.fromEntries(owned), ...source.owned },
  };
}

function mapFiles(
  sets: Readonly<Record<string, ConfigFiles>>,
  map: (file: string, source: OsloSource | DataSource) => OsloSource | DataSource,
): Record<string, ConfigFiles> {
  return Object.fromEntries(
    Object.entries(sets).map(([name, files]) => [
      name,
      Object.fromEntries(
        Object.entries(files).map(([path, content]) => [
          path,
          typeof content === 'string' ? content : map(path.slice(path.lastIndexOf('/') + 1), content),
        ]),
      ),
    ]),
  );
}
