import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ofClouds } from '../ceph/configuration.ts';
import { up as upCeph } from '../ceph/up.ts';
import { writeAccess } from './access.ts';
import { ensureImageAndNetwork, ensureServer, ensureVolume } from './first-server.ts';
import { kubectl } from './kubectl.ts';
import { memoryOf } from './memory.ts';
import { signIn } from './openstack.ts';
import { type Images, writeOverlay } from './overlay.ts';
import { installPackages } from './packages.ts';
import { controlPlane, type Place, placeOf, root } from './place.ts';
import { checkMachine } from './preconditions.ts';
import { hasCeph, type Sample, sampleNamed } from './sample.ts';
import { elapsed, run, say, step } from './step.ts';
import { makeTunnelBridges } from './tunnels.ts';

/** What cloud it is to be. */
export interface Wanted {
  readonly sample: Sample;
  /** How many nodes. */
  readonly nodes: number;
  /** How many monitors of Ceph, where there is one. */
  readonly monitors: 1 | 3;
}

/** Brings the cloud up, from whatever is there. @throws StepError that names the step, and how to go on */
export async function up(place: Place, options: Wanted & { server: boolean }): Promise<void> {
  const { guest } = await prepare(place, options);
  if (hasCeph(options.sample)) await prepareCeph(place, options);
  const rolledOut = new AbortController();
  const prepared = options.server ? prepareServer(place, guest, rolledOut.signal) : undefined;
  try {
    await step('control plane', () => deployControlPlane(place, options.nodes));
  } finally {
    rolledOut.abort();
  }
  await prepared;
  const credentials = await writeAccess(place, controlPlane);
  const openstack = await signIn(credentials);
  if (options.server) {
    const server = await ensureServer(openstack, guest);
    if (hasCeph(options.sample)) await ensureVolume(openstack, server);
    if (options.sample === sampleNamed('ceph')) tellBudget(place);
  }
  say('');
  for (const [type, url] of openstack.endpoints) process.stdout.write(`  ${type.padEnd(10)} ${url}\n`);
  process.stdout.write(`
The cloud runs. A shell that knows it, with kubectl and openstack:
  ${shellCommand(place)}
Credentials: ${place.openrc}, ${place.clouds}; kubeconfig: ${place.kubeconfig}
What runs: make cloud-status. The end of it: make cloud-down.
`);
}

/** How long it took, and what it takes, beside what it may with all caches filled: on one node, with one monitor. */
function tellBudget(place: Place): void {
  const memory = (memoryOf(place) / 2 ** 30).toFixed(1);
  say(`a server with an attached volume: after ${elapsed()} of 3:30 minutes, with ${memory} of 6.0 GiB of memory`);
}

/** What opens the cloud's shell, from any directory and with whatever Node.js the machine has. */
function shellCommand({ directory, instance }: Place): string {
  if (directory === placeOf(undefined, 0).directory && instance === 0) {
    return process.cwd() === root ? 'make cloud-shell' : `make -C ${root} cloud-shell`;
  }
  const main = join(root, 'tools/cloud/main.ts');
  return `${process.execPath} ${main} shell --dir ${directory} --instance ${instance}`;
}

/**
 * Image and network while Nova still rolls out, so that a server can be asked for in the second after Ready. What fails
 * here is tried again after Ready, and told of there.
 */
async function prepareServer(place: Place, guest: string, rolledOut: AbortSignal): Promise<void> {
  const { namespace, name } = controlPlane;
  const services = ['glance', 'neutron'].map((service) => `${service}s.openstack.k8s.io/${name}-${service}`);
  try {
    await kubectl(place, ['-n', namespace, 'wait', '--for=create', '--timeout=900s', ...services], {
      signal: rolledOut,
    });
    const ready = ['-n', namespace, 'wait', '--for=condition=Ready', '--timeout=900s', ...services];
    await kubectl(place, ready, { signal: rolledOut });
    await ensureImageAndNetwork(await signIn(await writeAccess(place, controlPlane)), guest);
  } catch {
    // Whatever it was: ensureServer does the same again.
  }
}

/** Before the control plane, whose services may ask for what it has. */
async function prepareCeph(place: Place, { monitors }: Wanted): Promise<void> {
  await kubectl(place, ['apply', '--server-side', '-f', join(place.overlay, 'control-plane/namespace.yaml')]);
  await upCeph(place, { ...ofClouds, monitors }, [controlPlane.namespace]);
}

/** A node with the operator in it, and the guest's image: all but the cloud. @throws StepError */
export async function prepare(place: Place, wanted: Wanted): Promise<{ guest: string }> {
  checkMachine(place);
  await installPackages(place);
  const parts = [
    step('Kubernetes programs', () =>
      run(join(root, 'tools/kubernetes/build'), [], { log: place.log('kubernetes-build') }),
    ),
    step('container images', () => buildImages(place)),
    step('guest image', async () =>
      (await run(join(root, 'images/guest/build'), [], { log: place.log('guest') })).trim(),
    ),
  ] as const;
  await Promise.allSettled(parts); // so that a failure is the last word
  const [, images, guest] = await Promise.all(parts);
  await step('Kubernetes node', () => startNodes(place, images, wanted.nodes));
  await step('operator', () => deployOperator(place, images, wanted));
  return { guest };
}

async function buildImages(place: Place): Promise<Images> {
  const printed = await run(join(root, 'images/build'), [], { log: place.log('images') });
  return JSON.parse(readFileSync(printed.trim(), 'utf8')) as Images;
}

async function startNodes(place: Place, images: Images, nodes: number): Promise<void> {
  const log = place.log('node');
  const start = (...more: readonly string[]) =>
    run(join(root, 'tools/kubernetes/up'), ['--dir', place.kubernetes, '--instance', String(place.instance), ...more], {
      log,
    });
  await start();
  await run(join(root, 'tools/kubernetes/load'), ['--dir', place.kubernetes, images.archive, images.operator.archive], {
    log,
  });
  // With the images that the first one has by now.
  if (nodes > 1) await start('--nodes', String(nodes));
}

async function deployOperator(place: Place, images: Images, wanted: Wanted): Promise<void> {
  writeOverlay(place, images, wanted);
  await kubectl(place, ['apply', '--server-side', '-k', join(place.overlay, 'operator')]);
  await kubectl(place, ['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all']);
  await kubectl(place, [
    '-n',
    'openstack-operator-system',
    'rollout',
    'status',
    'deployment/openstack-operator',
    '--timeout=120s',
  ]);
}

async function deployControlPlane(place: Place, nodes: number): Promise<void> {
  const { namespace, name } = controlPlane;
  await kubectl(place, ['apply', '--server-side', '-k', join(place.overlay, 'control-plane')]);
  const tunnels = nodes > 1 ? makeTunnelBridges(place, nodes) : undefined;
  await run(
    join(root, 'bin/kubectl-openstack'),
    ['follow', name, '-n', namespace, '--kubeconfig', place.kubeconfig, '--timeout', '1800'],
    {
      log: place.log('rollout'),
      shown: true,
    },
  );
  await tunnels;
}
