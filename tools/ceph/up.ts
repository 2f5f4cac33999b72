import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, isApiError, realClock, Secret, sleep } from '@openstack-operator/kube';
import { kubectl } from '../cloud/kubectl.ts';
import type { ImageSet } from '../cloud/overlay.ts';
import { type Place, root } from '../cloud/place.ts';
import { run, StepError, say, step } from '../cloud/step.ts';
import { ceph, memory, requireCluster } from './cluster.ts';
import type { Monitors, Shape } from './configuration.ts';
import { type Identity, identityFrom, pools } from './keys.ts';
import { identityName, monitorNames, monitorService, namespace, selector } from './names.ts';
import { monitorServices, namespaceObject, objects } from './objects.ts';

/** Seconds that Ceph may take until its health is good. */
const limit = 300;

/**
 * Brings a Ceph up in the cluster of `place`, as far as it is not; returns when it says HEALTH_OK. `usersIn`: namespaces
 * that get a client's ceph.conf and the keyrings of OpenStack's services.
 * @throws StepError
 */
export async function up(place: Place, shape: Shape, usersIn: readonly string[]): Promise<void> {
  requireCluster(place);
  const image = await step('image of Ceph', () => loadImage(place));
  const began = performance.now();
  await step('Ceph', async () => {
    const names = monitorNames(shape.monitors);
    await apply(place, [namespaceObject()]);
    await requireSameMonitors(place, names);
    await apply(place, monitorServices(names));
    const monitors = await addresses(place, names);
    const identity = await readIdentity(place);
    await apply(place, objects({ identity, monitors, shape, image }, usersIn));
    await well(place, ['ceph', ...names.slice(1).map(monitorService)]);
  });
  say(`HEALTH_OK ${((performance.now() - began) / 1000).toFixed(1)} s after the first object`);
  for (const { daemon, mebibytes } of await memory(place)) say(`  ${daemon.padEnd(10)} ${mebibytes} MiB`);
}

async function loadImage(place: Place): Promise<string> {
  const printed = await run(join(root, 'images/build'), ['ceph'], { log: place.log('images-ceph') });
  const { archive, names } = JSON.parse(readFileSync(printed.trim(), 'utf8')) as ImageSet;
  await run(join(root, 'tools/kubernetes/load'), ['--dir', place.kubernetes, archive], { log: place.log('node') });
  const [image = ''] = names;
  return image;
}

/** Keys stay, because clients have them; what a newer version adds is made. Not by kubectl, whose words are logged. */
async function readIdentity({ kubeconfig }: Place): Promise<Identity> {
  const { client } = await connect({ kubeconfig, env: process.env, clock: realClock });
  const read = client.get(Secret, { namespace, name: identityName });
  const secret = await read.catch((error: unknown) => {
    if (isApiError(error, 404)) return undefined;
    throw error;
  });
  const known = Object.entries((secret?.['data'] ?? {}) as Record<string, string>);
  return identityFrom(Object.fromEntries(known.map(([name, text]) => [name, Buffer.from(text, 'base64').toString()])));
}

/** Monitors know each other from their first start on. */
async function requireSameMonitors(place: Place, names: readonly string[]): Promise<void> {
  const jsonpath = 'jsonpath={.items[*].metadata.labels.tools-ceph\\/monitor}';
  const there = await kubectl(place, ['-n', namespace, 'get', 'statefulsets', '-l', selector, '-o', jsonpath]);
  if (there === '' || there === names.join(' ')) return;
  throw new StepError(
    `Ceph runs with the monitors ${there}, not ${names.join(' ')}: say so with --monitors, or begin anew: node tools/ceph/main.ts down`,
  );
}

async function addresses(place: Place, names: readonly string[]): Promise<Monitors> {
  const found = names.map(async (name) => {
    const get = ['-n', namespace, 'get', 'service', monitorService(name), '-o', 'jsonpath={.spec.clusterIP}'];
    return [name, await kubectl(place, get)] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

async function apply(place: Place, items: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await kubectl(place, ['apply', '--server-side', '--force-conflicts', '-f', '-'], { input });
}

/** What `ceph status` says, as far as it is looked at. */
interface Status {
  readonly health: { readonly status: string; readonly checks: object };
  readonly pgmap: {
    readonly num_pgs: number;
    readonly num_pools: number;
    readonly pgs_by_state: readonly { readonly state_name: string; readonly count: number }[];
  };
}

/** The health is good before anything is known of the placement groups. */
function isWell({ health, pgmap }: Status): boolean {
  const clean = pgmap.pgs_by_state.find(({ state_name }) => state_name === 'active+clean')?.count;
  return health.status === 'HEALTH_OK' && pgmap.num_pools >= pools.length && clean === pgmap.num_pgs;
}

/** Waits until the pods are Ready and Ceph is well. @throws StepError with the last words of the daemons */
async function well(place: Place, statefulSets: readonly string[]): Promise<void> {
  const began = performance.now();
  try {
    for (const name of statefulSets) {
      await kubectl(place, ['-n', namespace, 'rollout', 'status', `statefulset/${name}`, `--timeout=${limit}s`]);
    }
    for (let last = ''; !last.startsWith('{') || !isWell(JSON.parse(last) as Status); await sleep(realClock, 200)) {
      if (performance.now() - began > limit * 1000) throw new StepError(`Ceph is not well after ${limit} s: ${last}`);
      last = await ceph(place, ['status', '-f', 'json']).catch((error: Error) => error.message);
    }
  } catch (error) {
    const tail = ['--all-containers', '--prefix', '--tail', '5', '--ignore-errors'];
    const words = await kubectl(place, ['-n', namespace, 'logs', 'statefulset/ceph', ...tail]).catch(String);
    const anew = `node tools/ceph/main.ts down --dir ${place.directory}`;
    throw new StepError(`${words}\n${(error as Error).message}\nFrom the beginning: ${anew}, then up.`, {
      cause: error,
    });
  }
}
