import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { guestImage, member } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { isReady, type PodState, pods } from '../pods.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';

interface Image {
  readonly id: string;
  readonly status: string;
}

const podsOf = (component: string) => pods(`app.kubernetes.io/name=glance,app.kubernetes.io/component=${component}`);

/** Fields of Glance that tests state; null is nothing stated. */
interface Stated {
  readonly replicas: number | null;
  readonly imageImport?: { readonly convertTo: 'raw' } | null;
}

/** The pods of the image API, once all of Glance's are there, have these fields in their files, and no others are left. */
async function glanceOf(stated: Stated): Promise<PodState[]> {
  const { name, namespace } = (await controlPlane()).metadata;
  const patch = JSON.stringify({ spec: { glance: stated } });
  await program('kubectl', '-n', namespace, 'patch', 'openstackcontrolplane', name, '--type', 'merge', '-p', patch);
  const plugins = ['sh', '-c', 'grep -c image_import_plugins /etc/glance/glance-api.conf || true'];
  const converts = ({ metadata }: PodState) =>
    program('kubectl', 'exec', '-n', namespace, metadata.name, '--', ...plugins).catch(() => 'not there');
  const count = stated.replicas ?? 1;
  return await until({
    what: `${count} pods of each API of images, which ${stated.imageImport ? 'convert' : 'do not convert'}`,
    seconds: 240,
    probe: async () => {
      const [found, internal] = await Promise.all([podsOf('api'), podsOf('internal')]);
      const all = [...found, ...internal];
      if (found.length !== count || internal.length !== count || !all.every(isReady)) return undefined;
      const each = await Promise.all(all.map(converts));
      return each.every((lines) => lines === (stated.imageImport ? '1' : '0')) ? found : undefined;
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

async function newImage(user: User, pod: string, name: string, format = 'raw'): Promise<Image> {
  const attributes = { name: `${prefix}${name}`, disk_format: format, container_format: 'bare' };
  const image = JSON.parse((await ask(user, pod, 'post', '/images', { json: attributes })).text) as Image;
  onTestFinished(async () => {
    await user.call('image.delete_image', image.id, { ignore_missing: true });
  });
  return image;
}

/** Imports what was staged at one pod, and waits until that is done. */
async function imported(user: User, pod: string, { id }: Image): Promise<void> {
  const direct = { json: { method: { name: 'glance-direct' } } };
  expect((await ask(user, pod, 'post', `/images/${id}/import`, direct)).status).toBe(202);
  await until({
    what: `image ${id} to be imported`,
    seconds: 60,
    probe: async () => (await user.call<Image>('image.get_image', id)).status === 'active' || undefined,
    explain: async () => JSON.stringify(await user.call('image.get_image', id)),
  });
}

/** Stages a disk of 4 MiB in format QCOW2 at a pod, which has the program for it. Gives the sum (SHA-512) of the disk. */
async function stageDisk(user: User, { metadata }: PodState, { id }: Image): Promise<string> {
  const token = await user.call<string>('session.get_token');
  const put = [
    'import sys, urllib.request as http',
    'headers = {"X-Auth-Token": sys.argv[1], "Content-Type": "application/octet-stream"}',
    'url = "http://%s:9292/v2/images/%s/stage" % (sys.argv[2], sys.argv[3])',
    'http.urlopen(http.Request(url, open("qcow2", "rb").read(), headers, method="PUT"))',
  ].join('\n');
  const script = [
    'set -e; cd "$(mktemp -d)"',
    'head -c 4194304 /dev/urandom > raw && qemu-img convert -f raw -O qcow2 raw qcow2',
    'python3 -c "$1" "$2" "$(hostname -i)" "$3"',
    'sha512sum < raw; rm raw qcow2',
  ].join('\n');
  const shell = ['exec', '-n', metadata.namespace, metadata.name, '--', 'sh', '-c', script, 'sh'];
  return (await program('kubectl', ...shell, put, token, id)).split(' ')[0] ?? '';
}

test('two pods of the image API: what goes up at one comes down at the other, what is staged at one is imported, and converted', async () => {
  const user = await member();
  onTestFinished(async () => void (await glanceOf({ replicas: null, imageImport: null })), 300_000);
  const both = await glanceOf({ replicas: 2, imageImport: { convertTo: 'raw' } });
  const [one = '', two = ''] = both.map(({ status }) => status.podIP);
  expect(one).not.toBe(two);
  const data = randomBytes(2 * 2 ** 20).toString('hex');
  const uploaded = await newImage(user, one, 'uploaded');
  expect((await ask(user, one, 'put', `/images/${uploaded.id}/file`, { data, headers: binary })).status).toBe(204);
  expect((await ask(user, two, 'get', `/images/${uploaded.id}/file`)).text === data).toBe(true);

  const staged = await newImage(user, one, 'staged');
  expect((await ask(user, one, 'put', `/images/${staged.id}/stage`, { data, headers: binary })).status).toBe(204);
  await imported(user, two, staged);
  expect((await ask(user, two, 'get', `/images/${staged.id}/file`)).text === data).toBe(true);

  for (const [at, by] of [[both[0], two] as const, [both[1], one] as const]) {
    const disk = await newImage(user, one, 'disk', 'qcow2');
    const sum = await stageDisk(user, at as PodState, disk);
    await imported(user, by, disk);
    const found = JSON.parse((await ask(user, one, 'get', `/images/${disk.id}`)).text) as object;
    expect(found).toMatchObject({ disk_format: 'raw', size: 4 * 2 ** 20, os_hash_value: sum });
  }
}, 900_000);

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
