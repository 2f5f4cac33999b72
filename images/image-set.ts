import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** An image of an OCI layout (a directory, or a tar of one). */
export interface Image {
  /** Kolla's name: the last part of the reference, without tag. */
  readonly name: string;
  readonly reference: string;
  /** Of the image's configuration: `NAME=value`. */
  readonly env: readonly string[];
  readonly layers: readonly Layer[];
}

export interface Layer {
  readonly digest: string;
  /** GNU tar's option for its compression. */
  readonly compression: string | undefined;
  /** Where it is: a layout's directory or archive. */
  readonly source: string;
}

interface Index {
  readonly manifests: readonly {
    readonly digest: string;
    readonly platform?: { readonly architecture?: string };
    readonly annotations?: Readonly<Record<string, string>>;
  }[];
}

/**
 * Reads the images of an OCI layout. `source` is its directory or archive; `NAME=source` names the only image of a
 * layout whose index does not say whose it is, such as skopeo's `oci:directory`.
 */
export function readImages(argument: string): Image[] {
  const [, given, source = argument] = /^([a-z0-9-]+)=(.+)$/.exec(argument) ?? [];
  const json = (path: string) => {
    try {
      return JSON.parse(readEntry(source, path));
    } catch (error) {
      throw new Error(`${source} is no OCI layout: it has no ${path}`, { cause: error });
    }
  };
  const images = (json('index.json') as Index).manifests.flatMap(({ digest, annotations = {} }) => {
    const reference =
      given ?? annotations['io.containerd.image.name'] ?? annotations['org.opencontainers.image.ref.name'];
    if (reference === undefined) throw new Error(`${source}: an image without a name; say which: NAME=${source}`);
    const manifest = json(blob(digest));
    if (manifest.manifests !== undefined)
      throw new Error(
        `${source}: ${reference} is an index of several platforms; copy one of them (skopeo copy --override-arch)`,
      );
    const { config = {} } = json(blob(manifest.config.digest));
    const layers = manifest.layers.map(({ digest, mediaType }: { digest: string; mediaType: string }): Layer => {
      const compression = /[+.](gzip|zstd)$/.exec(mediaType)?.[1];
      return { digest, compression: compression && `--${compression}`, source };
    });
    return [{ name: imageName(reference), reference, env: config.Env ?? [], layers }];
  });
  if (given !== undefined && images.length !== 1)
    throw new Error(`${source} holds ${images.length} images, so ${given} cannot be the name of one`);
  return images;
}

/** A layer's tar on standard output of the command that this gives. */
export function readLayerCommand(layer: Layer): string[] {
  if (isDirectory(layer.source)) return ['cat', join(layer.source, blob(layer.digest))];
  return ['tar', '--extract', '--to-stdout', '--occurrence=1', `--file=${layer.source}`, blob(layer.digest)];
}

const blob = (digest: string) => `blobs/${digest.replace(':', '/')}`;

const isDirectory = (path: string) => statSync(path).isDirectory();

function readEntry(source: string, path: string): string {
  if (isDirectory(source)) return readFileSync(join(source, path), 'utf8');
  return execFileSync('tar', ['--extract', '--to-stdout', '--occurrence=1', `--file=${source}`, path], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

/** `registry:5000/a/keystone:2025.1@sha256:...` -> `keystone`. */
function imageName(reference: string): string {
  const [path = ''] = reference.split('@');
  return (path.split('/').at(-1) ?? '').split(':')[0] ?? '';
}
