import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** An image: several names for the same layers. */
interface Image {
  readonly names: readonly string[];
  /** Uncompressed tars, lowest first. */
  readonly layers: readonly string[];
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const repository = 'localhost/openstack-operator';

/**
 * Writes an OCI archive (image layout in a tar): each layer once, the index naming every image. The tag is made of the
 * version and of what is in the archive, so that equal tags mean equal bytes.
 */
export async function writeArchive(options: {
  directory: string;
  version: string;
  /** The `config` of every image. */
  config: object;
  images: readonly Image[];
  /** Whole references besides `localhost/openstack-operator/<name>:<tag>`, for the first image. */
  alias?: string | undefined;
}): Promise<{ tag: string; archive: string; names: string[] }> {
  const { directory, version, config, images, alias } = options;
  const layout = join(directory, 'layout');
  const blobs = join(layout, 'blobs', 'sha256');
  rmSync(layout, { recursive: true, force: true });
  mkdirSync(blobs, { recursive: true });

  const layers = new Map<string, Descriptor>();
  for (const path of new Set(images.flatMap((image) => image.layers))) {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
    const digest = hash.digest('hex');
    linkSync(path, join(blobs, digest));
    const mediaType = 'application/vnd.oci.image.layer.v1.tar';
    layers.set(path, { mediaType, digest: `sha256:${digest}`, size: statSync(path).size });
  }

  const blob = (mediaType: string, content: object): Descriptor => {
    const bytes = JSON.stringify(content);
    const digest = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(blobs, digest), bytes);
    return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(bytes) };
  };
  const manifests = images.map((image) => {
    const descriptors = image.layers.map((path) => layers.get(path) as Descriptor);
    const configuration = blob('application/vnd.oci.image.config.v1+json', {
      architecture: { x64: 'amd64' }[process.arch as string] ?? process.arch,
      os: 'linux',
      config,
      // A layer is uncompressed: its digest is that of its content.
      rootfs: { type: 'layers', diff_ids: descriptors.map(({ digest }) => digest) },
    });
    const mediaType = 'application/vnd.oci.image.manifest.v1+json';
    return blob(mediaType, { schemaVersion: 2, mediaType, config: configuration, layers: descriptors });
  });

  const identity = images.map(({ names }, index) => `${names.join(' ')} ${manifests[index]?.digest}\n`).join('');
  const tag = `${version}-${createHash('sha256').update(identity).digest('hex').slice(0, 12)}`;
  const named = images.flatMap(({ names }, index) => [
    ...(index === 0 && alias !== undefined ? [{ name: alias, manifest: manifests[index] }] : []),
    ...names.map((name) => ({ name: `${repository}/${name}:${tag}`, manifest: manifests[index] })),
  ]);
  writeFileSync(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  writeFileSync(
    join(layout, 'index.json'),
    JSON.stringify({
      schemaVersion: 2,
      manifests: named.map(({ name, manifest }) => ({
        ...manifest,
        // containerd reads the first, skopeo and podman the second.
        annotations: { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name },
      })),
    }),
  );
  const archive = join(directory, `${tag}.tar`);
  const deterministic = '--hard-dereference --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner'.split(' ');
  const content = ['oci-layout', 'index.json', 'blobs'];
  execFileSync('tar', ['--create', `--file=${archive}.new`, `--directory=${layout}`, ...deterministic, ...content]);
  execFileSync('mv', ['--', `${archive}.new`, archive]);
  rmSync(layout, { recursive: true });
  return { tag, archive, names: named.map(({ name }) => name) };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      directory: { type: 'string' },
      version: { type: 'string' },
      config: { type: 'string' },
      alias: { type: 'string' },
      /** NAME,NAME=LAYER,LAYER */
      image: { type: 'string', multiple: true },
    },
  });
  const { directory, version, config, alias, image } = values;
  if (directory === undefined || version === undefined || config === undefined || image === undefined)
    throw new Error(
      'usage: archive.ts --directory DIR --version V --config FILE --image NAME,...=LAYER,... [--alias REFERENCE]',
    );
  const images = image.map((text) => {
    const [names = '', layers = ''] = text.split('=');
    return { names: names.split(','), layers: layers.split(',') };
  });
  const written = await writeArchive({
    directory,
    version,
    config: JSON.parse(readFileSync(config, 'utf8')),
    images,
    alias,
  });
  process.stdout.write(`${JSON.stringify(written, null, 2)}\n`);
}
