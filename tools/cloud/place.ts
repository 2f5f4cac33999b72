import { execFileSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { StepError } from './step.ts';

/** The repository. */
export const root = resolve(import.meta.dirname, '../..');

/** Name and namespace in config/samples/controlplane_minimal.yaml: what runs is the sample. */
export const controlPlane = { namespace: 'openstack', name: 'my-cloud' };

/** Where a cloud keeps what it needs, and what it says of itself. */
export interface Place {
  readonly directory: string;
  /** Options that tell a command of this place. */
  readonly options: readonly string[];
  /** Which set of addresses the node takes (tools/kubernetes/up --help). */
  readonly instance: number;
  /** The node: certificates, kubeconfig, logs, and the images, which outlive it. */
  readonly kubernetes: string;
  readonly kubeconfig: string;
  readonly openrc: string;
  readonly clouds: string;
  /** Resolves the names of Services for the shell. */
  readonly resolver: string;
  /** The shell's /etc/hosts. */
  readonly hosts: string;
  /** Programs that the shell finds first. */
  readonly programs: string;
  /** Read by the shell when it is bash. */
  readonly startFile: string;
  /** What `up` applies with kustomize. */
  readonly overlay: string;
  /** Where a step's programs say what they do. */
  log(name: string): string;
}

/** The cluster's DNS, reached through the route to its Services. */
export function dnsOf({ instance }: Place): string {
  return `10.${96 + instance}.0.10`;
}

/** The place of the cloud in `dir`, by default the one that `make cloud` uses. */
export function placeOf(dir: string | undefined, instance: number): Place {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const directory = resolve(dir ?? join(cache, 'openstack-operator/cloud'));
  const kubernetes = dir === undefined ? join(cache, 'openstack-operator/node') : join(directory, 'kubernetes');
  return {
    directory,
    options: [...(dir === undefined ? [] : ['--dir', directory]), '--instance', String(instance)],
    instance,
    kubernetes,
    kubeconfig: join(kubernetes, 'kubeconfig'),
    openrc: join(directory, 'openrc'),
    clouds: join(directory, 'clouds.yaml'),
    resolver: join(directory, 'resolv.conf'),
    hosts: join(directory, 'hosts'),
    programs: join(directory, 'bin'),
    startFile: join(directory, 'bashrc'),
    overlay: join(directory, 'overlay'),
    log: (name) => join(directory, 'log', `${name}.log`),
  };
}

/** Directory of the Kubernetes programs, kubectl among them. @throws StepError when they are not built */
export function kubernetesPrograms(): string {
  try {
    return execFileSync(join(root, 'tools/kubernetes/build'), ['--check'], { encoding: 'utf8' }).trim();
  } catch (error) {
    throw new StepError('This checkout has not built its kubectl yet: run tools/kubernetes/build.', { cause: error });
  }
}
