import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { admin, member } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { pods } from '../pods.ts';
import { prefix } from '../running-cloud.ts';
import { until } from '../until.ts';
import { digest, ofDevice, parentOf } from './devices.ts';
import { made, servicesAreUp, type Thing } from './disks.ts';

interface Backend {
  readonly name: string;
}

interface Quotas {
  readonly volumes: number;
  readonly gigabytes: number;
}

/** The backends of the control plane. */
async function backends(): Promise<readonly Backend[]> {
  const { spec } = await controlPlane();
  return (spec as { cinder: { backends: readonly Backend[] } }).cinder.backends;
}

/** States the backends, and waits until the process of the first one has a cache or none. */
async function state(wanted: readonly Backend[], { caches }: { readonly caches: boolean }): Promise<void> {
  const { name, namespace } = (await controlPlane()).metadata;
  const kubectl = (...argv: readonly string[]) => program('kubectl', '-n', namespace, ...argv);
  const patch = JSON.stringify({ spec: { cinder: { backends: wanted } } });
  await kubectl('patch', 'openstackcontrolplane', name, '--type', 'merge', '-p', patch);
  const process = `deployment/${name}-cinder-volume-${wanted[0]?.name ?? ''}`;
  const count = async () => {
    const { status } = JSON.parse(await kubectl('get', process, '-o', 'json')) as { status: Record<string, number> };
    if (status['updatedReplicas'] !== 1 || status['readyReplicas'] !== 1) return 'not ready';
    return await kubectl(
      'exec',
      process,
      '--',
      'sh',
      '-c',
      'grep -c ^image_volume_cache /etc/cinder/cinder.conf || true',
    );
  };
  await until({
    what: `the process of volumes with ${caches ? 'a' : 'no'} cache`,
    seconds: 400,
    probe: async () => (await count().catch(() => 'not there')) === (caches ? '2' : '0') || undefined,
    explain: () => kubectl('get', 'cinder', `${name}-cinder`, '-o', 'jsonpath={.status.conditions}'),
  });
  await servicesAreUp();
}

/** A file with a disk of 4 MiB in format QCOW2: a pod of the image API has the program for it. */
async function diskImage(): Promise<string> {
  const [api] = await pods('app.kubernetes.io/name=glance,app.kubernetes.io/component=api');
  const { name = '', namespace = '' } = api?.metadata ?? {};
  const script =
    'cd "$(mktemp -d)" && head -c 4194304 /dev/urandom > raw && qemu-img convert -f raw -O qcow2 raw qcow2 && base64 -w 0 qcow2 && rm raw qcow2';
  const text = await program('kubectl', 'exec', '-n', namespace, name, '--', 'sh', '-c', script);
  const folder = mkdtempSync(join(tmpdir(), 'image-cache-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'disk.qcow2');
  writeFileSync(file, Buffer.from(text, 'base64'));
  return file;
}

/** What Cinder keeps of an image, once that is so. */
async function keptOf(image: Thing): Promise<Thing> {
  const { id: project } = await admin.call<Thing>('identity.find_project', 'cinder-internal');
  return await until({
    what: `a volume that is kept of image ${image.id}`,
    seconds: 60,
    probe: async () => {
      const all = await admin.call<(Thing & { name: string; project_id: string })[]>('block_storage.volumes', {
        all_projects: true,
      });
      return all.find((one) => one.name === `image-${image.id}` && one.project_id === project);
    },
  });
}

test('of an image that is not raw the backend keeps a volume: the next one is a clone of that', async () => {
  const user = await member();
  const before = await backends();
  onTestFinished(() => state(before, { caches: false }), 600_000);
  const cached = before.map((one) => ({ ...one, rootHelpers: true, imageCache: { maxCount: 2 } }));
  await state(cached, { caches: true });
  const image = await user.call<Thing>('image.create_image', `${prefix}kept`, {
    filename: await diskImage(),
    disk_format: 'qcow2',
    container_format: 'bare',
    wait: true,
    allow_duplicates: true,
  });
  onTestFinished(async () => {
    await user.call('image.delete_image', image.id, { ignore_missing: true });
  });
  const one = await made(user, 'volume', { name: `${prefix}first`, size: 1, image_id: image.id });
  const kept = await keptOf(image);
  onTestFinished(async () => {
    await admin.call('block_storage.delete_volume', kept.id, { ignore_missing: true });
    await until({
      what: `volume ${kept.id} to be gone`,
      seconds: 120,
      probe: async () =>
        (await admin.call('block_storage.find_volume', kept.id, { all_projects: true })) === null || undefined,
    });
  }, 180_000);
  const parent = `volume-${kept.id}`;
  expect(await parentOf(`volumes/volume-${one.id}`)).toBeUndefined();
  const two = await made(user, 'volume', { name: `${prefix}second`, size: 1, image_id: image.id });
  expect(await parentOf(`volumes/volume-${two.id}`)).toMatchObject({ pool: 'volumes', image: parent });
  expect(await digest(`volumes/volume-${two.id}`)).toBe(await digest(`volumes/volume-${one.id}`));
  const written = await ofDevice(
    'rbd export --no-progress "$0" - | head -c 4194304 | tr -d "\\0" | wc -c',
    `volumes/volume-${two.id}`,
  );
  expect(Number(written)).toBeGreaterThan(4_000_000);
  const { id: project } = await admin.call<Thing>('identity.find_project', 'cinder-internal');
  const { volumes, gigabytes } = await admin.call<Quotas>('block_storage.get_quota_set', project);
  expect({ volumes, gigabytes }).toEqual({ volumes: -1, gigabytes: -1 });
}, 1_500_000);
