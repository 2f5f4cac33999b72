import { expect, onTestFinished, test } from 'vitest';
import { admin, member, stranger } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { isReady, pods } from '../pods.ts';
import { openstack, prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';

type Reply = { readonly status: number; readonly text: string };

/** States limits of images, or none, and waits until all pods of the API have the endpoint, or none. */
async function state(registeredLimits: object | null): Promise<void> {
  const { name, namespace } = (await controlPlane()).metadata;
  const patch = JSON.stringify({ spec: { glance: { registeredLimits } } });
  await program('kubectl', '-n', namespace, 'patch', 'openstackcontrolplane', name, '--type', 'merge', '-p', patch);
  await enforcing(registeredLimits === null ? undefined : await endpoint());
}

/** The identifier that the operator has found. */
async function endpoint(other?: string): Promise<string> {
  const { name, namespace } = (await controlPlane()).metadata;
  const status = async () => {
    const text = await program('kubectl', '-n', namespace, 'get', 'glance', `${name}-glance`, '-o', 'json');
    return (JSON.parse(text) as { status: { found?: Readonly<Record<string, string>>; conditions: object[] } }).status;
  };
  return await until({
    what: 'the identifier of the endpoint of images',
    seconds: 300,
    probe: async () => {
      const found = (await status()).found?.['endpoint image'];
      return found === other ? undefined : found;
    },
    explain: async () => JSON.stringify((await status()).conditions),
  });
}

/** Waits until all pods of the API, and no others, have the endpoint in their file. */
async function enforcing(id: string | undefined): Promise<void> {
  const { name, namespace } = (await controlPlane()).metadata;
  const kubectl = (...argv: readonly string[]) => program('kubectl', '-n', namespace, ...argv);
  const api = `deployment/${name}-glance-api`;
  const stated = async () => {
    const { spec } = JSON.parse(await kubectl('get', api, '-o', 'json')) as { spec: { replicas: number } };
    // Those that end still answer whoever is connected to them.
    const found = await pods('app.kubernetes.io/name=glance,app.kubernetes.io/component=api');
    if (found.length !== spec.replicas || !found.every(isReady)) return 'not ready';
    const script = "sed -n 's/^endpoint_id = //p' /etc/glance/glance-api.conf";
    return await kubectl('exec', api, '--', 'sh', '-c', script);
  };
  await until({
    what: `the API of images with ${id === undefined ? 'no endpoint' : `endpoint ${id}`}`,
    seconds: 400,
    probe: async () => (await stated().catch(() => 'not there')) === (id ?? '') || undefined,
    explain: () => kubectl('get', 'glance', `${name}-glance`, '-o', 'jsonpath={.status.conditions}'),
  });
  await until({
    what: 'the API of images to answer',
    seconds: 60,
    probe: async () => (await asked(admin, 'get', '/images?limit=1')).status === 200 || undefined,
  });
}

const asked = (user: User, method: 'get' | 'post' | 'put' | 'delete', path: string, more: object = {}) =>
  user.call<Reply>(`image.${method}`, path, { ...more, raise_exc: false });

/** What Glance answers to whoever makes an image, which goes when the test is over. */
async function made(user: User): Promise<Reply & { readonly id: string }> {
  const json = { name: `${prefix}limited`, disk_format: 'raw', container_format: 'bare' };
  const reply = await asked(user, 'post', '/images', { json });
  if (reply.status !== 201) return { ...reply, id: '' };
  const { id } = JSON.parse(reply.text) as { id: string };
  onTestFinished(async () => {
    await asked(user, 'delete', `/images/${id}`);
  });
  return { ...reply, id };
}

/** What it answers to an upload of 9 MiB. */
async function uploaded(user: User, id: string): Promise<Reply> {
  const headers = { 'Content-Type': 'application/octet-stream' };
  return await asked(user, 'put', `/images/${id}/file`, { data: 'limited!\n'.repeat(2 ** 20), headers });
}

/** What it says beyond a limit. */
const beyond = ({ projectId }: { readonly projectId: string }, words: string) => ({
  status: 413,
  text: expect.stringMatching(`Project ${projectId} is over a limit for \\[Resource ${words}`) as string,
});

test('projects are held to their limits, one has a limit of its own, and an endpoint that was made anew is learnt', async () => {
  const [one, other] = [await stranger(), await member()];
  onTestFinished(() => state(null), 600_000);
  await state({ imageSizeTotal: '8Mi', imageCountTotal: 20 });

  // What is uploaded is looked at before it is known how large it is.
  const first = await made(one);
  expect(await uploaded(one, first.id)).toMatchObject({ status: 204 });
  const second = await made(one);
  const over = 'image_size_total is over limit of 8 due to current usage 9 and delta 0';
  expect(await uploaded(one, second.id)).toMatchObject(beyond(one, over));
  expect(JSON.parse((await asked(one, 'get', '/info/usage')).text)).toMatchObject({
    usage: { image_size_total: { usage: 9, limit: 8 }, image_count_total: { usage: 2, limit: 20 } },
  });

  // Where the project has a limit of its own.
  const own = async (resource: string, limit: number) => {
    const of = ['--project', one.projectId, '--service', 'glance', '--region', 'RegionOne'];
    const { id } = await openstack<{ id: string }>('limit', 'create', ...of, '--resource-limit', `${limit}`, resource);
    onTestFinished(async () => {
      await admin.call<Reply>('identity.delete', `/limits/${id}`, { raise_exc: false });
    });
    return id;
  };
  await own('image_size_total', 100);
  expect(await uploaded(one, second.id)).toMatchObject({ status: 204 });
  await own('image_count_total', 2);
  expect(await made(one)).toMatchObject(beyond(one, 'image_count_total is over limit of 2 due to current usage 2'));
  expect(await made(other)).toMatchObject({ status: 201 });

  // Where the endpoint was deleted, every new image is refused, until an audit has made it again.
  const id = await endpoint();
  expect((await admin.call<Reply>('identity.delete', `/endpoints/${id}`, { raise_exc: false })).status).toBe(204);
  const { name, namespace } = (await controlPlane()).metadata;
  const kubectl = (...argv: readonly string[]) => program('kubectl', '-n', namespace, ...argv);
  const job = `${name}-glance-image-limits`;
  await kubectl('create', 'job', job, `--from=cronjob/${name}-glance-records-audit`);
  onTestFinished(async () => {
    await kubectl('delete', 'job', job, '--ignore-not-found');
  });
  await enforcing(await endpoint(id));
  expect(await made(one)).toMatchObject(beyond(one, 'image_count_total is over limit of 2 due to current usage 2'));
  expect(await made(other)).toMatchObject({ status: 201 });
});
