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
  const url = `http://${pod.status.podIP}:9292/v2/images${path}`;
  return await user.call(`image.${method}`, url, { raise_exc: false, ...options });
}

/** The names of what lies in the container of images, as somebody sees it who may see every account. */
async function objects(): Promise<string[]> {
  const { id } = await admin.call<{ id: string }>('identity.find_project', 'service');
  const user = admin.connectedAnew();
  const own = new URL(await user.call<string>('object_store.get_endpoint'));
  const url = `${own.origin}/v1/AUTH_${id}/glance`;
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

test('images are objects of Swift, in segments where they are large; they outlive pods, and are gone when deleted', async () => {
  await optionalService('swift', 'swifts')(swiftSpec);
  await glanceInSwift();
  await seesAll();
  const user = await member();
  const [one, two] = await twoPods();
  const binary = { 'content-type': 'application/octet-stream' };
  const images: { readonly id: string; readonly data: string }[] = [];
  for (const size of [1000, 1_250_000]) {
    const json = { name: `${prefix}${size}`, disk_format: 'raw', container_format: 'bare' };
    const { id } = JSON.parse((await ask(user, one, 'post', '', { json })).text) as { id: string };
    const data = randomBytes(size).toString('hex');
    expect((await ask(user, one, 'put', `/${id}/file`, { data, headers: binary })).status).toBe(204);
    images.push({ id, data });
  }
  const [small, large] = images.map(({ id }) => id);
  // A megabyte is 1024000 bytes here.
  const segments = ['', '-00001', '-00002', '-00003'].map((suffix) => `${large}${suffix}`);
  expect((await objects()).sort((a, b) => (a < b ? -1 : 1))).toEqual(
    [`${small}`, ...segments].sort((a, b) => (a < b ? -1 : 1)),
  );
  const areWhole = async (pod: PodState) => {
    for (const { id, data } of images)
      expect((await ask(user, pod, 'get', `/${id}/file`)).text === data, `what comes from ${pod.metadata.name}`).toBe(
        true,
      );
  };
  await areWhole(two);
  await Promise.all([one, two].map((pod) => deletePod(pod)));
  const [other] = await twoPods([one, two]);
  await areWhole(other);
  for (const { id } of images) expect((await ask(user, other, 'delete', `/${id}`)).status).toBe(204);
  expect(await objects()).toEqual([]);
});
