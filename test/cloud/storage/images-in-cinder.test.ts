import { createHash, randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { admin, member } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';
import { digest, ofDevice, parentOf } from './devices.ts';
import { made, servicesAreUp } from './disks.ts';

/** A store of volumes, of a type that several downloads at a time may attach. No store can be taken away: it stays. */
const store = { name: 'blocks', type: 'cinder', volumeType: 'images' };

interface Named {
  readonly name: string;
}

interface Parts {
  readonly cinder: { readonly backends: readonly Named[]; readonly volumeTypes?: readonly Named[] };
  readonly glance: { readonly additionalStores?: readonly Named[] };
}

/** States the store and the type, beside what is there, and waits until all is Ready with them. */
async function stateStore(): Promise<void> {
  const { metadata, spec } = await controlPlane();
  const { cinder, glance } = spec as Parts;
  const beside = (all: readonly Named[] = [], one: Named) => [...all.filter(({ name }) => name !== one.name), one];
  const type = {
    name: store.volumeType,
    backend: cinder.backends[0]?.name ?? '',
    extraSpecs: { multiattach: '<is> True' },
  };
  const changed = {
    cinder: { volumeTypes: beside(cinder.volumeTypes, type) },
    glance: { additionalStores: beside(glance.additionalStores, store) },
  };
  const kubectl = (...argv: readonly string[]) => program('kubectl', '-n', metadata.namespace, ...argv);
  const patch = JSON.stringify({ spec: changed });
  await kubectl('patch', 'openstackcontrolplane', metadata.name, '--type', 'merge', '-p', patch);
  const conditions = () => kubectl('get', 'glances,cinders', '-o', 'jsonpath={.items[*].status.conditions}');
  await until({
    what: 'the control plane to be Ready with the store',
    seconds: 600,
    probe: async () => {
      const ready = '{.metadata.generation} {.status.observedGeneration} {.status.phase}';
      const said = await kubectl('get', 'openstackcontrolplane', metadata.name, '-o', `jsonpath=${ready}`);
      const [generation, observed, phase] = said.split(' ');
      if (generation !== observed || phase !== 'Ready') return undefined;
      return (await admin.call<Answer>('image.get', '/info/stores')).text.includes(store.name) || undefined;
    },
    explain: conditions,
  });
  await servicesAreUp();
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const ask = (user: User, method: string, path: string, options: object = {}) =>
  user.call<Answer>(`image.${method}`, path, { raise_exc: false, ...options });

/** Makes a raw image of random letters, in the store that is named, or in the first one. */
async function image(user: User, name: string, chosen?: string) {
  const json = { name: `${prefix}${name}`, disk_format: 'raw', container_format: 'bare' };
  const { id } = JSON.parse((await ask(user, 'post', '/images', { json })).text) as { id: string };
  onTestFinished(async () => {
    await user.call('image.delete_image', id, { ignore_missing: true });
  }, 120_000);
  const data = randomBytes(3 * 2 ** 20).toString('hex');
  const headers = {
    'content-type': 'application/octet-stream',
    ...(chosen && { 'x-image-meta-store': chosen }),
  };
  const { status, text } = await ask(user, 'put', `/images/${id}/file`, { data, headers });
  expect(status, text).toBe(204);
  return { id, data };
}

interface Volume {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly volume_type: string;
  readonly project_id: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The volume that is an image; undefined when there is none. */
async function volumeOf({ id }: { readonly id: string }): Promise<Volume | undefined> {
  const all = await admin.call<Volume[]>('block_storage.volumes', { all_projects: true });
  return all.find(({ name }) => name === `image-${id}`);
}

/** Waits until the volume that is an image is gone. */
async function isGone(one: { readonly id: string }): Promise<void> {
  await until({
    what: `the volume of image ${one.id} to be gone`,
    seconds: 120,
    probe: async () => (await volumeOf(one)) === undefined || undefined,
    explain: async () => JSON.stringify(await volumeOf(one)),
  });
}

/** The digest of what the first bytes of a block device are. */
async function beginning(device: string, bytes: number): Promise<string> {
  const script = `rbd export --no-progress "$0" - | head -c ${bytes} | sha256sum`;
  return (await ofDevice(script, device)).split(' ')[0] ?? '';
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

test('an image is a volume of the project of services: it comes down as it went up, a volume of it is a clone, and it goes with the image', async () => {
  await stateStore();
  const user = await member();
  const { id: project } = await admin.call<{ id: string }>('identity.find_project', 'service');
  const quotas = await admin.call<{ volumes: number; gigabytes: number }>('block_storage.get_quota_set', project);
  expect(quotas).toMatchObject({ volumes: -1, gigabytes: -1 });

  const uploaded = await image(user, 'uploaded', store.name);
  const kept = await volumeOf(uploaded);
  expect(kept).toMatchObject({ status: 'available', volume_type: store.volumeType, project_id: project });
  expect(kept?.metadata['image_size']).toBe(String(uploaded.data.length));
  const down = async () => (await ask(user, 'get', `/images/${uploaded.id}/file`)).text === uploaded.data;
  expect(await Promise.all([down(), down(), down()])).toEqual([true, true, true]);
  const device = `volumes/volume-${kept?.id}`;
  expect(await beginning(device, uploaded.data.length)).toBe(sha256(uploaded.data));

  const clone = await made(user, 'volume', { name: `${prefix}clone`, size: 1, image_id: uploaded.id });
  expect(await parentOf(`volumes/volume-${clone.id}`)).toMatchObject({ image: `volume-${kept?.id}` });
  const before = await digest(`volumes/volume-${clone.id}`);
  expect(await beginning(`volumes/volume-${clone.id}`, uploaded.data.length)).toBe(sha256(uploaded.data));
  expect((await ask(user, 'delete', `/images/${uploaded.id}`)).status).toBe(204);
  await isGone(uploaded);
  expect(await digest(`volumes/volume-${clone.id}`)).toBe(before);
}, 900_000);

test('an administrator copies an image into the store, whose size nobody says beforehand', async () => {
  await stateStore();
  const copied = await image(await member(), 'copied');
  const json = { method: { name: 'copy-image' }, stores: [store.name] };
  expect((await ask(admin, 'post', `/images/${copied.id}/import`, { json })).status).toBe(202);
  const shown = async () => (await ask(admin, 'get', `/images/${copied.id}`)).text;
  await until({
    what: 'the image to be in both stores',
    seconds: 120,
    probe: async () => (JSON.parse(await shown()) as { stores?: string }).stores?.includes(store.name) || undefined,
    explain: shown,
  });
  const kept = await volumeOf(copied);
  expect(kept?.metadata['image_size']).toBe(String(copied.data.length));
  expect(await beginning(`volumes/volume-${kept?.id}`, copied.data.length)).toBe(sha256(copied.data));
  expect((await ask(admin, 'delete', `/stores/${store.name}/${copied.id}`)).status).toBe(204);
  await isGone(copied);
  expect((await ask(admin, 'get', `/images/${copied.id}/file`)).text === copied.data).toBe(true);
}, 900_000);
