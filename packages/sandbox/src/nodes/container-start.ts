import { uuid } from '@openstack-operator/kube';
import type { Pod, Stored } from '../cluster/kinds.ts';
import { ProcessNetwork } from '../network/process-network.ts';
import { directoryAt } from '../programs/file-tree.ts';
import type { Image } from '../programs/program.ts';
import { Container, type Exit } from './container.ts';
import { containerFiles } from './container-files.ts';
import { ContainerLog } from './container-log.ts';
import type { ContainerSlot } from './container-slot.ts';
import { containerEnvironment } from './environment.ts';
import { expandVariables } from './expand.ts';
import { networkDevices } from './machine.ts';
import type { NodeContext } from './node-context.ts';
import { oomScoreAdjOf } from './oom-score.ts';
import type { PodNetwork } from './pod-network.ts';
import type { PodVolumes } from './pod-volumes.ts';
import { ProcessTable } from './process-table.ts';
import { containerIdentity } from './security.ts';

/** A container cannot be made; `reason` is what its waiting state shows. */
export class ContainerError extends Error {
  override readonly name = 'ContainerError';
  readonly code = 'CONTAINER';
  readonly reason: 'CreateContainerConfigError' | 'CreateContainerError';

  constructor(reason: ContainerError['reason'], cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.reason = reason;
  }
}

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Makes the next run of a container: environment, identity, files, network, command.
 * @throws ContainerError when the pod names what is not there, or asks for what may not be
 */
export function createContainer(options: {
  readonly node: NodeContext;
  readonly pod: Stored<Pod>;
  readonly slot: ContainerSlot;
  readonly image: Image;
  readonly network: PodNetwork;
  readonly volumes: PodVolumes;
  onExit(container: Container, exit: Exit): void;
}): Container {
  const { node, pod, slot, image, network, volumes } = options;
  const { spec } = slot;
  const facts = { podIp: network.host.address, hostIp: node.host.address, allocatable: node.allocatable };
  const attempt = <T>(reason: ContainerError['reason'], work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw new ContainerError(reason, error);
    }
  };
  const configured = attempt('CreateContainerConfigError', () => ({
    identity: containerIdentity(pod, spec, image),
    env: containerEnvironment(pod, spec, facts, node.cluster),
  }));
  const { identity } = configured;
  const expand = (text: string) => expandVariables(text, (name) => configured.env[name]);
  const env = { PATH: DEFAULT_PATH, HOSTNAME: network.hostname, ...image.env, ...configured.env };
  const command = spec.command?.length ? spec.command.map(expand) : (image.entrypoint ?? []);
  const args = (spec.args ?? []).map(expand);
  const log = new ContainerLog(node.clock);
  const processes = new ProcessTable(
    identity,
    network.host,
    node.allocatable,
    pod.spec.hostPID === true ? directoryAt(node.disk.root, ['proc']) : undefined,
    oomScoreAdjOf(pod, spec, node.allocatable),
  );
  const files = attempt('CreateContainerError', () => {
    if (command.length + args.length === 0) throw new Error('no command specified');
    const mounts = volumes.mounts(spec, configured.env);
    return containerFiles({
      image,
      container: spec,
      identity,
      mounts,
      etc: network.etc,
      log,
      proc: processes.directory,
      devices:
        pod.spec.hostNetwork === true
          ? directoryAt(node.disk.root, ['sys', 'class', 'net'])
          : networkDevices(['lo', 'eth0']),
    });
  });
  const container: Container = new Container({
    id: `sandbox://${uuid(node.random)}`,
    image,
    argv: [...command, ...args],
    env,
    identity,
    files,
    network: new ProcessNetwork({
      cluster: node.network,
      host: network.host,
      resolver: network.resolver,
      files,
      uid: identity.uid,
    }),
    clock: node.clock,
    random: node.random,
    pod: {
      name: pod.metadata.name,
      namespace: pod.metadata.namespace ?? '',
      uid: pod.metadata.uid,
      ip: network.host.address,
      nodeName: node.name,
      nodeIp: node.host.address,
      hostname: network.hostname,
      hostNetwork: pod.spec.hostNetwork === true,
      hostPID: pod.spec.hostPID === true,
    },
    log,
    processes,
    onExit: (exit) => options.onExit(container, exit),
  });
  return container;
}

const LONGEST_MESSAGE = 4096;
const LONGEST_LOG_MESSAGE = 2048;
const MOST_LOG_LINES = 80;

/** What an ended container left at its terminationMessagePath, or its last words when it failed without. */
export function terminationMessage(slot: ContainerSlot, container: Container, exit: Exit): string {
  const { terminationMessagePath = '/dev/termination-log', terminationMessagePolicy = 'File' } = slot.spec;
  const written = container.files.exists(terminationMessagePath) ? readFile(container, terminationMessagePath) : '';
  if (written !== '') return written.slice(0, LONGEST_MESSAGE);
  if (terminationMessagePolicy !== 'FallbackToLogsOnError' || exit.code === 0) return '';
  return container.log.read({ tailLines: MOST_LOG_LINES }).slice(-LONGEST_LOG_MESSAGE);
}

/** The kubelet reads the file from outside: permissions of the container's user do not matter. */
function readFile(container: Container, path: string): string {
  try {
    return container.files.read(path);
  } catch {
    return '';
  }
}
