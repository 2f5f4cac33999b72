import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { guestImage, member } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { isReady, pods } from '../pods.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';

interface Image {
  readonly id: string;
  readonly status: string;
}

const podsOf = (component: string) => pods(`app.kubernetes.io/name=glance,app.kubernetes.io/component=${component}`);

/** Addresses of the pods of the image API, once there are so many and no others; null for as many as there were. */
async function replicas(count: number | null): Promise<string[]> {
  const { name, namespace } = (await controlPlane()).metadata;
  const patch = JSON.stringify({ spec: { glance: { replicas: count } } });
  await program('kubectl', '-n', namespace, 'patch', 'openstackcontrolplane', name, '--type', 'merge', '-p', patch);
  return await until({
    what: `${count ?? 1} pods of the image API`,
    seconds: 240,
    probe: async () => {
      const found = await podsOf('api');
      const counts = found.length === (count ?? 1) && found.every(isReady);
      return counts ? found.map(({ status }) => status.podIP ?? '') : undefined;
    },
    explain: () => program('kubectl', '-n', namespace, 'get', 'pods', '-l', 'app.kubernetes.io/name=glance'),
  });
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

type Method = 'get' | 'put' | 'post' | 'patch';

/** Asks one pod. */
async function ask(user: User, pod: string, method: Method, path: string, options: object = {}): Promise<Answer> {
  return await user.call(`image.${method}`, `http://${pod}:9292/v2${path}`, { raise_exc: false, ...options });
}

const binary = { 'content-type': 'application/octet-stream' };

async function newImage(user: User, pod: string, name: string): Promise<Image> {
  const attributes = { name: `${prefix}${name}`, disk_format: 'raw', container_format: 'bare' };
  const image = JSON.parse((await ask(user, pod, 'post', '/images', { json: attributes })).text) as Image;
  onTestFinished(async () => {
    await user.call('image.delete_image', image.id, { ignore_missing: true });
  });
  return image;
}

test('two pods of the image API: what goes up at one comes down at the other, what is staged at one is imported', async () => {
  const user = await member();
  onTestFinished(async () => void (await replicas(null)), 300_000);
  const [one = '', two = ''] = await replicas(2);
  expect(one).not.toBe(two);
  const data = randomBytes(2 * 2 ** 20).toString('hex');
  const uploaded = await newImage(user, one, 'uploaded');
  expect((await ask(user, one, 'put', `/images/${uploaded.id}/file`, { data, headers: binary })).status).toBe(204);
  expect((await ask(user, two, 'get', `/images/${uploaded.id}/file`)).text === data).toBe(true);

  const staged = await newImage(user, one, 'staged');
  expect((await ask(user, one, 'put', `/images/${staged.id}/stage`, { data, headers: binary })).status).toBe(204);
  const direct = { json: { method: { name: 'glance-direct' } } };
  expect((await ask(user, two, 'post', `/images/${staged.id}/import`, direct)).status).toBe(202);
  await until({
    what: `image ${staged.id} to be imported`,
    seconds: 60,
    probe: async () => (await user.call<Image>('image.get_image', staged.id)).status === 'active' || undefined,
    explain: async () => JSON.stringify(await user.call('image.get_image', staged.id)),
  });
  expect((await ask(user, two, 'get', `/images/${staged.id}/file`)).text === data).toBe(true);
}, 600_000);

test('nobody but services sees or sets where images are', async () => {
  const user = await member();
  const address = async (component: string) => (await podsOf(component))[0]?.status.podIP ?? '';
  const [api, internal] = await Promise.all([address('api'), address('internal')]);
  const image = await guestImage();
  const seen = (await ask(user, api, 'get', `/images/${image}`)).text;
  expect(seen).not.toContain('rbd://');
  const shown = JSON.parse((await ask(user, internal, 'get', `/images/${image}`)).text) as { direct_url?: string };
  expect(shown.direct_url).toMatch(new RegExp(`^rbd://[0-9a-f-]{36}/images/${image}/snap$`));
  for (const pod of [api, internal]) {
    const own = await newImage(user, pod, 'borrowed');
    const json = [{ op: 'add', path: '/locations/-', value: { url: shown.direct_url, metadata: {} } }];
    const headers = { 'content-type': 'application/openstack-images-v2.1-json-patch' };
    expect((await ask(user, pod, 'patch', `/images/${own.id}`, { json, headers })).status).toBe(403);
  }
});
