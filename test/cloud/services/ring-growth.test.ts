import { hash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { realClock, sleep } from '@openstack-operator/kube';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../kubernetes/clients/command.ts';
import { member } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { execute, isReady, type PodState, podOf, pods } from '../pods.ts';
import type { User } from '../running-cloud.ts';
import { SdkError } from '../sdk.ts';
import { timed, until } from '../until.ts';
import { swiftSpec } from './swift-spec.ts';

const name = 'ring-growth';
const script = readFileSync(new URL('misplaced.py', import.meta.url), 'utf8');
/** Where each ring keeps what it places, and the Secret that has it. */
const rings = [
  { ring: 'account', folder: 'accounts', secret: `${name}-rings` },
  { ring: 'container', folder: 'containers', secret: `${name}-rings` },
  { ring: 'object', folder: 'objects', secret: `${name}-rings` },
  { ring: 'object-1', folder: 'objects-1', secret: `${name}-rings-policies` },
  { ring: 'object-2', folder: 'objects-2', secret: `${name}-rings-policies` },
] as const;
/** Containers, by the storage policy that each has: of two copies, of one, and of three fragments of which two are enough. */
const containers = { copies: 'Policy-0', single: 'single', fragments: 'fragments' } as const;
type Container = keyof typeof containers;
const names = Object.keys(containers) as readonly Container[];

let namespace = '';
const kubectl = (...words: readonly string[]) => program('kubectl', '-n', namespace, ...words);

/** A Swift of the test's own, apart from that of the cloud, whose volumes outlive a test: one storage node with three devices. */
async function makeSwift(): Promise<void> {
  const { metadata } = await controlPlane();
  ({ namespace } = metadata);
  const { apiVersion, spec } = JSON.parse(await kubectl('get', 'glance', `${metadata.name}-glance`, '-o', 'json')) as {
    readonly apiVersion: string;
    readonly spec: Readonly<Record<string, unknown>>;
  };
  const cloud = ['release', 'region', 'imageRegistry', 'imageTag', 'imagePullPolicy', 'cacheRef', 'keystoneRef'];
  const swift = {
    apiVersion,
    kind: 'Swift',
    metadata: { name, namespace },
    spec: {
      ...Object.fromEntries(Object.entries(spec).filter(([field]) => cloud.includes(field))),
      deletionPolicy: 'Delete',
      exposure: 'None',
      identity: { userName: name, serviceName: name },
      storageNodes: 1,
      devicesPerNode: 3,
      storagePolicy: { replicaCount: 2, partitionPower: 4, minPartHours: 1 },
      storagePolicies: [
        { index: 1, name: 'single', replicaCount: 1 },
        { index: 2, name: 'fragments', erasureCoding: { dataFragments: 2, parityFragments: 1 } },
      ],
      storage: { size: '1Gi' },
      checkDevices: swiftSpec.checkDevices,
    },
  };
  onTestFinished(async () => {
    await kubectl('delete', 'swift', name, '--ignore-not-found', '--wait=false');
    await until({
      what: `Swift ${name} to be gone`,
      seconds: 240,
      probe: async () => (await kubectl('get', 'swift', name, '--ignore-not-found')) === '' || undefined,
      explain: () => kubectl('get', 'swift', name, '-o', 'yaml'),
    });
  }, 300_000);
  const environment = process.env as Record<string, string>;
  const { code, stderr } = await run('kubectl', ['apply', '-f', '-'], { environment, stdin: JSON.stringify(swift) });
  expect({ code, stderr }).toMatchObject({ code: 0 });
}

/** Waits until the Swift is Ready as it is stated now. */
async function ready(): Promise<void> {
  await until({
    what: `Swift ${name} to be Ready`,
    seconds: 600,
    probe: async () => {
      const { metadata, status } = JSON.parse(await kubectl('get', 'swift', name, '-o', 'json')) as {
        readonly metadata: { readonly generation: number };
        readonly status?: { readonly phase?: string; readonly observedGeneration?: number };
      };
      return (status?.phase === 'Ready' && status.observedGeneration === metadata.generation) || undefined;
    },
    explain: () => kubectl('get', 'swift', name, '-o', 'jsonpath={.status.conditions}'),
  });
}

const labels = (component: string) =>
  `app.kubernetes.io/name=swift,app.kubernetes.io/instance=${name},app.kubernetes.io/component=${component}`;

/** What a program prints in a storage node's pod, where Swift's own programs are. @throws Error with its words when it fails */
async function inPod({ metadata, spec }: PodState, command: readonly string[], stdin?: string): Promise<string> {
  const place = { namespace: metadata.namespace, pod: metadata.name, name: spec.containers[0]?.name ?? '' };
  const { code, stdout, stderr } = await execute(place, command, stdin);
  if (code !== 0) throw new Error(`${command.join(' ')} in ${place.pod} ended with ${code}: ${stderr}`);
  return stdout.trim();
}

async function storageNodes(): Promise<PodState[]> {
  return (await pods(labels('storage'))).filter(isReady);
}

const dataOf = async (secret: string) =>
  (JSON.parse(await kubectl('get', 'secret', secret, '-o', 'json')) as { data: Readonly<Record<string, string>> }).data;

/** Has all builders believe that the hours for which a partition stays where it is are over. */
async function hoursPass(): Promise<void> {
  const [pod] = await storageNodes();
  if (pod === undefined) throw new Error(`no storage node of Swift ${name} is Ready`);
  for (const { ring, secret } of rings) {
    const file = `/tmp/${ring}.builder`;
    const words = `base64 -d > ${file} && swift-ring-builder ${file} pretend_min_part_hours_passed >&2 && base64 -w 0 ${file}`;
    const key = `${ring}.builder`;
    const builder = await inPod(pod, ['sh', '-c', words], (await dataOf(secret))[key]);
    await kubectl('patch', 'secret', secret, '--type', 'merge', '-p', JSON.stringify({ data: { [key]: builder } }));
  }
}

/** Does at once what the CronJobs of the rings do at night. */
async function moveOn(): Promise<void> {
  for (const suffix of ['rings', 'policies']) {
    const job = `${name}-${suffix}-now`;
    await kubectl('create', 'job', job, `--from=cronjob/${name}-${suffix}-again`);
    await until({
      what: `Job ${job} to be done`,
      seconds: 240,
      probe: async () => (await kubectl('get', 'job', job, '-o', 'jsonpath={.status.succeeded}')) === '1' || undefined,
      explain: () => kubectl('describe', 'job', job),
    });
  }
}

/** What lies where the newest rings do not send it, and who has older ones, by storage node. */
async function unsettled(): Promise<string[]> {
  const wanted = new Map<string, string>();
  for (const { ring, secret } of rings) {
    const file = Buffer.from((await dataOf(secret))[`${ring}.ring.gz`] ?? '', 'base64');
    wanted.set(ring, hash('md5', file));
  }
  const found: string[] = [];
  for (const pod of await storageNodes()) {
    const lines = await inPod(pod, ['python3', '-c', script, ...rings.map(({ ring, folder }) => `${ring}=${folder}`)]);
    for (const line of lines.split('\n')) {
      const {
        name: ring,
        digest,
        misplaced,
      } = JSON.parse(line) as {
        readonly name: string;
        readonly digest: string;
        readonly misplaced: readonly string[];
      };
      const what = digest === wanted.get(ring) ? misplaced : [`${ring}.ring.gz of before`];
      found.push(...what.map((one) => `${pod.metadata.name}: ${one}`));
    }
  }
  return found;
}

/** Waits until all servers have the newest rings, and replicators have brought everything to where these say. */
async function settled(): Promise<void> {
  const seconds = await timed(() =>
    until({
      what: 'replicators to have brought everything to where it belongs',
      seconds: 600,
      probe: async () => (await unsettled()).length === 0 || undefined,
      explain: async () => (await unsettled()).join('\n'),
    }),
  );
  console.log(`everything was where the rings say after ${Math.round(seconds)} s`);
}

/** How many files of objects a device of a storage node has. */
async function files(pod: PodState, folder: string): Promise<number> {
  return Number(await inPod(pod, ['sh', '-c', `find ${folder} -name '*.data' | wc -l`]));
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** What a proxy of this Swift answers; status 0: it did not. */
async function asked(user: User, method: 'get' | 'put', url: string, more: object = {}): Promise<Answer> {
  try {
    const { status, text } = await user.call<Answer>(`session.${method}`, url, { raise_exc: false, ...more });
    return { status, text };
  } catch (error) {
    if (!(error instanceof SdkError)) throw error;
    return { status: 0, text: error.message };
  }
}

/** A request that failed. */
interface Failure {
  readonly method: 'get' | 'put';
  readonly container: Container;
  readonly status: number;
}

/** Somebody who writes objects, and reads those that were acknowledged. */
class Use {
  readonly #user: User;
  readonly #account: string;
  /** What was acknowledged, by path. */
  readonly #stored = new Map<string, string>();
  readonly failures: Failure[] = [];

  constructor(user: User, account: string) {
    this.#user = user;
    this.#account = account;
  }

  get size(): number {
    return this.#stored.size;
  }

  async write(container: Container): Promise<void> {
    const path = `${container}/${randomBytes(8).toString('hex')}`;
    const data = randomBytes(2000).toString('hex');
    const headers = { 'content-type': 'text/plain; charset=us-ascii' };
    const { status } = await asked(this.#user, 'put', `${this.#account}/${path}`, { data, headers });
    if (status === 201) this.#stored.set(path, data);
    else this.failures.push({ method: 'put', container, status });
  }

  /** @throws Error when it is another object than the one that was written: nothing excuses that */
  async read(path: string): Promise<boolean> {
    const { status, text } = await asked(this.#user, 'get', `${this.#account}/${path}`);
    if (status !== 200) {
      this.failures.push({ method: 'get', container: path.split('/')[0] as Container, status });
      return false;
    }
    if (text !== this.#stored.get(path)) throw new Error(`${path} is not what was written there`);
    return true;
  }

  /** Writes and reads, as long as something takes. */
  async during(act: () => Promise<void>): Promise<void> {
    const end = new AbortController();
    const again = async (one: (turn: number) => Promise<unknown>) => {
      for (let turn = 0; !end.signal.aborted; turn += 1) {
        await one(turn);
        await sleep(realClock, 200);
      }
    };
    const writing = again((turn) => this.write(names[turn % names.length] ?? 'copies'));
    const reading = again((turn) => this.read([...this.#stored.keys()][turn % this.#stored.size] ?? ''));
    try {
      await act();
    } finally {
      end.abort();
      await Promise.all([writing, reading]);
    }
  }

  /** Which objects, of these containers, are not as they were written. */
  async missing(some: readonly Container[] = names): Promise<string[]> {
    const paths = [...this.#stored.keys()].filter((path) => some.some((one) => path.startsWith(`${one}/`)));
    const missing: string[] = [];
    const reading = async () => {
      for (let path = paths.pop(); path !== undefined; path = paths.pop())
        if (!(await this.read(path))) missing.push(path);
    };
    await Promise.all([reading(), reading(), reading(), reading()]);
    return missing;
  }
}

/** How many requests failed, by what they were. */
function counted(failures: readonly Failure[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { method, container, status } of failures) {
    const kind = `${method} of ${container}: ${status}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

test('one storage node becomes three while objects are written and read; nothing is lost, not by a lost device of a policy of fragments either', async () => {
  await makeSwift();
  await ready();
  const owner = await member();
  const user = owner.connectedAnew();
  const { status: proxy } = await podOf(labels('proxy'));
  const account = `http://${proxy.podIP}:8080/v1/AUTH_${owner.projectId}`;
  for (const [container, policy] of Object.entries(containers)) {
    const headers = { 'X-Storage-Policy': policy };
    expect(await asked(user, 'put', `${account}/${container}`, { headers })).toMatchObject({ status: 201 });
  }
  const use = new Use(user, account);
  for (let turn = 0; turn < 30; turn += 1) for (const container of names) await use.write(container);
  expect(use.failures).toEqual([]);

  await use.during(async () => {
    await hoursPass();
    await kubectl('patch', 'swift', name, '--type', 'merge', '-p', JSON.stringify({ spec: { storageNodes: 3 } }));
    await ready();
    await settled();
    // One replica of each partition has moved: others may, once the first are where they belong.
    await hoursPass();
    await moveOn();
    await settled();
  });
  console.log(`of ${use.size} objects, requests that failed meanwhile: ${JSON.stringify(counted(use.failures))}`);
  // Of what has another copy, or fragments enough, nothing is missed. Of a single copy reads fail, until it has arrived.
  expect(use.failures.filter(({ method, container }) => method === 'put' || container !== 'single')).toEqual([]);
  expect(use.failures.filter(({ status }) => status !== 404)).toEqual([]);
  expect(await use.missing()).toEqual([]);
  const nodes = await storageNodes();
  expect(nodes).toHaveLength(3);
  for (const node of nodes)
    for (const folder of ['objects', 'objects-1', 'objects-2'])
      expect(await files(node, `/srv/node/*/${folder}`), `${folder} of ${node.metadata.name}`).toBeGreaterThan(0);

  const [lost] = nodes as [PodState];
  const folder = '/srv/node/d1/objects-2';
  const before = await files(lost, folder);
  expect(before).toBeGreaterThan(0);
  await inPod(lost, ['rm', '-r', folder]);
  expect(await use.missing(['fragments'])).toEqual([]);
  const seconds = await timed(() =>
    until({
      what: `all fragments to be on ${folder} of ${lost.metadata.name} again`,
      seconds: 600,
      probe: async () => (await files(lost, folder)) === before || undefined,
      explain: async () => `it has ${await files(lost, folder)} of ${before}`,
    }),
  );
  console.log(`${before} fragments of a lost device were made anew after ${Math.round(seconds)} s`);
  expect(await use.missing(['fragments'])).toEqual([]);
}, 2_400_000);
