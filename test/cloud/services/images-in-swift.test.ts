import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../kubernetes/clients/command.ts';
import { admin, member } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { deletePod, isReady, type PodState, pods } from '../pods.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';
import { swiftSpec } from './swift-spec.ts';

const name = 'images-in-swift';

interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * A further Glance of the cloud, whose own keeps its images on a volume for good: with a database, a user and an entry in
 * the catalogue of its own, and gone after the test. What is more than a megabyte it keeps in segments.
 */
async function glanceInSwift(): Promise<void> {
  const { metadata } = await controlPlane();
  const kubectl = (...words: readonly string[]) => program('kubectl', '-n', metadata.namespace, ...words);
  const resource = JSON.parse(await kubectl('get', 'glance', `${metadata.name}-glance`, '-o', 'json')) as {
    readonly apiVersion: string;
    readonly spec: Readonly<Record<string, unknown>>;
  };
  const { exposure: _exposure, publicHostname: _hostname, gatewayRef: _gateway, ...cloud } = resource.spec;
  const account = 'glance_swift';
  const glance = {
    apiVersion: resource.apiVersion,
    kind: 'Glance',
    metadata: { name, namespace: metadata.namespace },
    spec: {
      ...cloud,
      deletionPolicy: 'Delete',
      exposure: 'None',
      storageType: 'swift',
      additionalStores: [{ name: 'archive', type: 'swift', description: 'slow, and cheap' }],
      imageCache: { maxSize: '64Mi' },
      replicas: 2,
      database: { user: account, names: { glance: account } },
      identity: { userName: name, serviceName: name },
      config: {
        'glance-api.conf': { swift: { swift_store_large_object_size: 1, swift_store_large_object_chunk_size: 1 } },
      },
    },
  };
  onTestFinished(async () => {
    await kubectl('delete', 'glance', name, '--ignore-not-found', '--wait=false');
    await until({
      what: 'the further Glance to be gone',
      seconds: 240,
      probe: async () => (await kubectl('get', 'glance', name, '--ignore-not-found')) === '' || undefined,
      explain: () => kubectl('get', 'glance', name, '-o', 'yaml'),
    });
  }, 300_000);
  const environment = process.env as Record<string, string>;
  const { code, stderr } = await run('kubectl', ['apply', '-f', '-'], { environment, stdin: JSON.stringify(glance) });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const ready = '{.status.conditions[?(@.type=="Ready")].status}';
  await until({
    what: 'the further Glance to be Ready',
    seconds: 600,
    probe: async () => (await kubectl('get', 'glance', name, '-o', `jsonpath=${ready}`)) === 'True' || undefined,
    explain: () => kubectl('get', 'glance', name, '-o', 'jsonpath={.status.conditions}'),
  });
}

const apis = `app.kubernetes.io/instance=${name},app.kubernetes.io/component=api`;

/** Two pods of its API, other ones than those. */
async function twoPods(others: readonly PodState[] = []): Promise<[PodState, PodState]> {
  return await until({
    what: 'two pods of the further Glance',
    seconds: 240,
    probe: async () => {
      const found = (await pods(apis)).filter(isReady);
      const [one, two] = found.filter(({ metadata }) => others.every((other) => other.metadata.uid !== metadata.uid));
      return one === undefined || two === undefined ? undefined : [one, two];
    },
    explain: () => program('kubectl', 'describe', 'pods', '--all-namespaces', '-l', apis),
  });
}

/** Asks one pod. */
async function ask(user: User, pod: PodState, method: string, path: string, options: object = {}): Promise<Answer> {
  const url = `http://${pod.status.podIP}:9292/v2${path}`;
  return await user.call(`image.${method}`, url, { raise_exc: false, ...options });
}

/** The names of what lies in the container of a store's images, as somebody sees it who may see every account. */
async function objects(container = 'glance'): Promise<string[]> {
  const { id } = await admin.call<{ id: string }>('identity.find_project', 'service');
  const user = admin.connectedAnew();
  const own = new URL(await user.call<string>('object_store.get_endpoint'));
  const url = `${own.origin}/v1/AUTH_${id}/${container}`;
  const { status, text } = await user.call<Answer>('object_store.get', url, { raise_exc: false });
  expect(status, text).toBeLessThan(300);
  return text.split('\n').filter((line) => line !== '');
}

/** Lets the administrator see every account, until the test is over. */
async function seesAll(): Promise<void> {
  const found = async (what: string, of: string) => (await admin.call<{ id: string }>(`identity.find_${what}`, of)).id;
  const ids = [
    await found('project', 'admin'),
    await found('user', 'admin'),
    await found('role', 'ResellerAdmin'),
  ] as const;
  await admin.call('identity.assign_project_role_to_user', ...ids);
  onTestFinished(async () => void (await admin.call('identity.unassign_project_role_from_user', ...ids)));
}

const binary = { 'content-type': 'application/octet-stream' };

/** Makes an image with random data, where the default store is not asked for another one. */
async function image(user: User, pod: PodState, size: number, headers: object = {}) {
  const json = { name: `${prefix}${size}`, disk_format: 'raw', container_format: 'bare' };
  const { id } = JSON.parse((await ask(user, pod, 'post', '/images', { json })).text) as { id: string };
  const data = randomBytes(size).toString('hex');
  const { status, text } = await ask(user, pod, 'put', `/images/${id}/file`, {
    data,
    headers: { ...binary, ...headers },
  });
  expect(status, text).toBe(204);
  return { id, data };
}

/** An image is copied into the further store, which users may choose as well. */
async function hasAnotherStore(user: User, pod: PodState, copied: string): Promise<void> {
  expect((await ask(user, pod, 'get', '/info/stores')).text).toContain('"slow, and cheap"');
  const chosen = await image(user, pod, 1000, { 'x-image-meta-store': 'archive' });
  expect(await objects('glance-archive')).toEqual([chosen.id]);
  const json = { method: { name: 'copy-image' }, stores: ['archive'] };
  expect((await ask(admin, pod, 'post', `/images/${copied}/import`, { json })).status).toBe(202);
  const shown = async () => (await ask(user, pod, 'get', `/images/${copied}`)).text;
  await until({
    what: 'the image to be in both stores',
    seconds: 60,
    probe: async () => (JSON.parse(await shown()) as { stores?: string }).stores === 'swift,archive' || undefined,
    explain: shown,
  });
  expect((await ask(user, pod, 'delete', `/images/${chosen.id}`)).status).toBe(204);
  // Of what is copied the store is not told the size: it is kept in segments, of which there is one.
  expect(await objects('glance-archive')).toEqual([copied, `${copied}-00001`]);
}

/** The images that a pod keeps copies of. */
async function copies(pod: PodState): Promise<readonly string[]> {
  const { status, text } = await ask(admin, pod, 'get', '/cache');
  expect(status, text).toBe(200);
  const { cached_images: cached } = JSON.parse(text) as { cached_images: { image_id: string }[] };
  return cached.map(({ image_id: id }) => id);
}

const sorted = (names: readonly string[]) => names.toSorted((one, other) => (one < other ? -1 : 1));

test('images are objects of Swift, in segments where they are large, and in several stores; they outlive pods, and are gone when deleted', async () => {
  await optionalService('swift', 'swifts')(swiftSpec);
  await glanceInSwift();
  await seesAll();
  const user = await member();
  const [one, two] = await twoPods();
  const images = [await image(user, one, 1000), await image(user, one, 1_250_000)];
  const [small, large] = images.map(({ id }) => id);
  // A megabyte is 1024000 bytes here.
  const segments = ['', '-00001', '-00002', '-00003'].map((suffix) => `${large}${suffix}`);
  expect(sorted(await objects())).toEqual(sorted([`${small}`, ...segments]));
  await hasAnotherStore(user, one, `${small}`);
  const areWhole = async (pod: PodState) => {
    for (const { id, data } of images)
      expect(
        (await ask(user, pod, 'get', `/images/${id}/file`)).text === data,
        `what comes from ${pod.metadata.name}`,
      ).toBe(true);
  };
  await areWhole(two);
  expect(sorted(await copies(two))).toEqual(sorted(images.map(({ id }) => id)));
  await Promise.all([one, two].map((pod) => deletePod(pod)));
  const [other] = await twoPods([one, two]);
  await areWhole(other);
  for (const { id } of images) expect((await ask(user, other, 'delete', `/images/${id}`)).status).toBe(204);
  expect([await objects(), await objects('glance-archive')]).toEqual([[], []]);
});
