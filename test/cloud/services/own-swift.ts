import { hash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { realClock, sleep } from '@openstack-operator/kube';
import { expect, onTestFinished } from 'vitest';
import { run } from '../../kubernetes/clients/command.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { execute, isReady, type PodState, pods } from '../pods.ts';
import type { User } from '../running-cloud.ts';
import { SdkError } from '../sdk.ts';
import { timed, until } from '../until.ts';
import { swiftSpec } from './swift-spec.ts';

const script = readFileSync(new URL('misplaced.py', import.meta.url), 'utf8');
/** A Swift of a test's own, apart from that of the cloud, whose volumes outlive a test. */
export interface OwnSwift {
  readonly name: string;
  /** Storage policies of further rings, by index. */
  readonly policies: readonly number[];
  /** Components whose pods are storage nodes: those that there may be. */
  readonly components: readonly string[];
}

/** Where each ring keeps what it places, and the Secret that has it. */
const ringsOf = ({ name, policies }: OwnSwift) => [
  ...['account', 'container', 'object'].map((ring) => ({ ring, folder: `${ring}s`, secret: `${name}-rings` })),
  ...policies.map((index) => ({
    ring: `object-${index}`,
    folder: `objects-${index}`,
    secret: `${name}-rings-policies`,
  })),
];

let namespace = '';
/** What kubectl prints, in the namespace of the cloud. */
export const kubectl = (...words: readonly string[]) => program('kubectl', '-n', namespace, ...words);

/** Makes one, for as long as the test runs, with these fields beside those that it has of its cloud. */
export async function makeSwift({ name }: OwnSwift, more: object): Promise<void> {
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
      storage: { size: '1Gi' },
      checkDevices: swiftSpec.checkDevices,
      ...more,
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
export async function ready({ name }: OwnSwift): Promise<void> {
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

/** Labels of the pods of a component. */
export const labels = ({ name }: OwnSwift, component: string) =>
  `app.kubernetes.io/name=swift,app.kubernetes.io/instance=${name},app.kubernetes.io/component=${component}`;

/** What a program prints in a storage node's pod, where Swift's own programs are. @throws Error with its words when it fails */
export async function inPod({ metadata, spec }: PodState, command: readonly string[], stdin?: string): Promise<string> {
  const place = { namespace: metadata.namespace, pod: metadata.name, name: spec.containers[0]?.name ?? '' };
  const { code, stdout, stderr } = await execute(place, command, stdin);
  if (code !== 0) throw new Error(`${command.join(' ')} in ${place.pod} ended with ${code}: ${stderr}`);
  return stdout.trim();
}

/** Pods of storage nodes that are Ready. */
export async function storageNodes(swift: OwnSwift): Promise<PodState[]> {
  const all = await Promise.all(swift.components.map((component) => pods(labels(swift, component))));
  return all.flat().filter(isReady);
}

const dataOf = async (secret: string) =>
  (JSON.parse(await kubectl('get', 'secret', secret, '-o', 'json')) as { data: Readonly<Record<string, string>> }).data;

/** Has all builders believe that the hours for which a partition stays where it is are over. */
export async function hoursPass(swift: OwnSwift): Promise<void> {
  const [pod] = await storageNodes(swift);
  if (pod === undefined) throw new Error(`no storage node of Swift ${swift.name} is Ready`);
  for (const { ring, secret } of ringsOf(swift)) {
    const file = `/tmp/${ring}.builder`;
    const words = `base64 -d > ${file} && swift-ring-builder ${file} pretend_min_part_hours_passed >&2 && base64 -w 0 ${file}`;
    const key = `${ring}.builder`;
    const builder = await inPod(pod, ['sh', '-c', words], (await dataOf(secret))[key]);
    await kubectl('patch', 'secret', secret, '--type', 'merge', '-p', JSON.stringify({ data: { [key]: builder } }));
  }
}

/** Does at once what the CronJobs of the rings do now and then. */
export async function moveOn({ name, policies }: OwnSwift): Promise<void> {
  for (const suffix of policies.length === 0 ? ['rings'] : ['rings', 'policies']) {
    const job = `${name}-${suffix}-${randomBytes(2).toString('hex')}`;
    await kubectl('create', 'job', job, `--from=cronjob/${name}-${suffix}-again`);
    await until({
      what: `Job ${job} to be done`,
      // It looks twice within two minutes at devices that leave.
      seconds: 480,
      probe: async () => (await kubectl('get', 'job', job, '-o', 'jsonpath={.status.succeeded}')) === '1' || undefined,
      explain: () => kubectl('describe', 'job', job),
    });
  }
}

/** What lies where the newest rings do not send it, and who has older ones, by storage node. */
async function unsettled(swift: OwnSwift): Promise<string[]> {
  const rings = ringsOf(swift);
  const wanted = new Map<string, string>();
  for (const { ring, secret } of rings) {
    const file = Buffer.from((await dataOf(secret))[`${ring}.ring.gz`] ?? '', 'base64');
    wanted.set(ring, hash('md5', file));
  }
  const found: string[] = [];
  for (const pod of await storageNodes(swift)) {
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
export async function settled(swift: OwnSwift): Promise<void> {
  const seconds = await timed(() =>
    until({
      what: 'replicators to have brought everything to where it belongs',
      seconds: 600,
      probe: async () => (await unsettled(swift)).length === 0 || undefined,
      explain: async () => (await unsettled(swift)).join('\n'),
    }),
  );
  console.log(`everything was where the rings say after ${Math.round(seconds)} s`);
}

/** How many files of objects a device of a storage node has. */
export async function files(pod: PodState, folder: string): Promise<number> {
  return Number(await inPod(pod, ['sh', '-c', `find ${folder} -name '*.data' | wc -l`]));
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** What a proxy of this Swift answers; status 0: it did not. */
export async function asked(user: User, method: 'get' | 'put', url: string, more: object = {}): Promise<Answer> {
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
  readonly container: string;
  readonly status: number;
}

/** Somebody who writes objects, and reads those that were acknowledged. */
export class Use {
  readonly #user: User;
  readonly #account: string;
  readonly #containers: readonly string[];
  /** What was acknowledged, by path. */
  readonly #stored = new Map<string, string>();
  readonly failures: Failure[] = [];

  /** `account`: its URL; `containers`: names of those that it uses. */
  constructor(user: User, account: string, containers: readonly string[]) {
    this.#user = user;
    this.#account = account;
    this.#containers = containers;
  }

  get size(): number {
    return this.#stored.size;
  }

  async write(container: string): Promise<void> {
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
      this.failures.push({ method: 'get', container: path.split('/')[0] ?? '', status });
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
    const writing = again((turn) => this.write(this.#containers[turn % this.#containers.length] ?? ''));
    const reading = again((turn) => this.read([...this.#stored.keys()][turn % this.#stored.size] ?? ''));
    try {
      await act();
    } finally {
      end.abort();
      await Promise.all([writing, reading]);
    }
  }

  /** Which objects, of these containers, are not as they were written. */
  async missing(some = this.#containers): Promise<string[]> {
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
export function counted(failures: readonly Failure[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { method, container, status } of failures) {
    const kind = `${method} of ${container}: ${status}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
