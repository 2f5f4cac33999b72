import { type User, users } from '@openstack-operator/facts/users';
import type { ConfigSet } from '../configuration/config.ts';
import { startOf } from '../configuration/start.ts';
import { defined } from '../names/defined.ts';
import { ownValue } from '../names/own-value.ts';
import {
  type Component,
  type Health,
  type HostAccess,
  type Init,
  type Mount,
  type NodeAgent,
  portsByContainer,
  protocolOf,
  type Runs,
  type Sidecar,
  type Variable,
} from '../vocabulary/component.ts';
import type { ComponentOverrides, ServiceSpec } from '../vocabulary/surroundings.ts';
import { containerSecurity, podSecurity } from './pod-security.ts';
import { PodVolumes } from './pod-volumes.ts';
import { lifecycle, probes, wsgiGraceSeconds } from './probes.ts';

/** All that a pod template is made of; workloads and Jobs share it. */
export interface PodInput {
  /** Name of the container, and of its start files. */
  readonly name: string;
  readonly image: string;
  readonly user: User;
  readonly runs: Runs;
  readonly init?: readonly (Init & { readonly image: string })[];
  readonly sidecars?: readonly (Sidecar & { readonly image: string })[];
  readonly configs: readonly ConfigSet[];
  readonly mounts?: readonly Mount[];
  readonly env?: Readonly<Record<string, Variable>>;
  readonly ports?: Readonly<Record<string, number>>;
  readonly udp?: readonly string[];
  readonly health?: Health;
  readonly startupSeconds?: number;
  readonly graceSeconds?: number;
  readonly nodeAgent?: NodeAgent;
  readonly host?: HostAccess;
  /** Its ServiceAccount, whose token it has; default: none. */
  readonly serviceAccount?: string | undefined;
  readonly resources?: Component['resources'];
  readonly spec: ServiceSpec;
  readonly overrides?: ComponentOverrides;
  readonly restartPolicy?: 'OnFailure' | 'Never';
  /** Claims of the StatefulSet itself: mounted, but no volume of the pod. */
  readonly ownClaims?: readonly string[];
}

/** What containers of a pod have of their own. */
interface ContainerInput extends Pick<PodInput, 'name' | 'image' | 'runs'> {
  readonly user?: User | undefined;
  readonly ports?: PodInput['ports'] | undefined;
  readonly health?: Health | undefined;
  readonly resources?: PodInput['resources'] | undefined;
}

/** The spec of a pod: restricted (Pod Security Standards) unless it has more of its node. */
export function podSpec(input: PodInput): Record<string, unknown> {
  const { host = {}, nodeAgent, overrides, spec } = input;
  const volumes = new PodVolumes(input);
  const ports = portsByContainer(input);
  const container = (one: ContainerInput, role: 'main' | 'sidecar' | 'init') => {
    const { name, image, user = input.user, runs } = one;
    const lasts = role !== 'init';
    const start = startOf(name, runs, Object.values(one.ports ?? {})[0], {
      reaper: lasts && input.restartPolicy === undefined,
    });
    return defined({
      name,
      image,
      imagePullPolicy: spec.imagePullPolicy,
      command: start.command,
      ports: lasts ? containerPorts(one.ports, input) : undefined,
      env: environment(input.env, overrides),
      envFrom: variablesFrom(input.configs),
      ...(lasts ? probes({ ...input, health: one.health }) : {}),
      lifecycle: lasts ? lifecycle({ ...input, health: one.health }) : undefined,
      resources: resourcesOf({ ...input, resources: one.resources }, role === 'main'),
      securityContext: containerSecurity(host, users[user]),
      terminationMessagePolicy: 'FallbackToLogsOnError',
      volumeMounts: volumes.mounts,
    });
  };
  return defined({
    automountServiceAccountToken: false,
    serviceAccountName: input.serviceAccount,
    enableServiceLinks: false,
    hostNetwork: host.network,
    hostPID: host.pid,
    hostIPC: host.ipc,
    dnsPolicy: host.network === true ? 'ClusterFirstWithHostNet' : undefined,
    restartPolicy: input.restartPolicy,
    terminationGracePeriodSeconds: input.graceSeconds ?? ('wsgi' in input.runs ? wsgiGraceSeconds : 30),
    imagePullSecrets: spec.imagePullSecrets,
    nodeSelector: nodeAgent === undefined ? someLabels(overrides?.nodeSelector ?? spec.nodeSelector) : nodeAgent.nodes,
    // Taints decide which nodes are claimed. On a claimed node guests run, and their agents stay whatever taint follows.
    tolerations: overrides?.tolerations ?? (nodeAgent === undefined ? spec.tolerations : [{ operator: 'Exists' }]),
    affinity: nodeAgent === undefined ? overrides?.affinity : undefined,
    topologySpreadConstraints: overrides?.topologySpreadConstraints,
    priorityClassName:
      overrides?.priorityClassName ?? (nodeAgent === undefined ? spec.priorityClassName : 'system-node-critical'),
    securityContext: podSecurity(input, users[input.user]),
    initContainers: input.init?.map((init) =>
      container({ ...init, ports: ports.own, resources: input.resources }, 'init'),
    ),
    containers: [
      container({ ...input, ports: input.ports && ports.own }, 'main'),
      ...(input.sidecars ?? []).map((one) => container({ ...one, ports: one.ports && ports.of(one.name) }, 'sidecar')),
    ],
    volumes: volumes.volumes,
  });
}

/** The API server drops what is empty. */
function someLabels(labels: PodInput['spec']['nodeSelector']): PodInput['spec']['nodeSelector'] {
  return Object.keys(labels ?? {}).length === 0 ? undefined : labels;
}

function variablesFrom(configs: readonly ConfigSet[]): unknown {
  const secrets = configs.flatMap(({ environment }) => (environment === undefined ? [] : [environment]));
  return secrets.length === 0 ? undefined : secrets.map((name) => ({ secretRef: { name } }));
}

function containerPorts(ports: PodInput['ports'], { udp = [], host }: PodInput): unknown {
  if (ports === undefined) return undefined;
  return Object.entries(ports).map(([name, containerPort]) =>
    defined({
      name,
      containerPort,
      protocol: protocolOf({ udp }, name),
      hostPort: host?.network === true ? containerPort : undefined,
    }),
  );
}

function environment(env: PodInput['env'], overrides: ComponentOverrides | undefined): unknown {
  const own = Object.entries(env ?? {}).map(([name, variable]) => {
    if (typeof variable === 'string') return { name, value: variable };
    if ('secret' in variable)
      return { name, valueFrom: { secretKeyRef: { name: variable.secret, key: variable.key } } };
    return { name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: variable.field } } };
  });
  // A name twice is refused by the API server; it is told as a problem (takenVariables).
  const all = [...own, ...(overrides?.env ?? []).filter(({ name }) => ownValue(env, name) === undefined)];
  return all.length === 0 ? undefined : all;
}

/** Variables in which oslo.config looks for an option before it reads a file (oslo_config/sources/_environment.py). */
const variableOfOption = /^OS_[A-Z0-9_]+__[A-Z0-9_]+$/u;

/** Variables of users that one of the operator's own has the name of. `path` is the component's. */
export function takenVariables(
  path: string,
  env: PodInput['env'],
  overrides: ComponentOverrides | undefined,
): string[] {
  return (overrides?.env ?? [])
    .filter(({ name }) => ownValue(env, name) !== undefined)
    .map(({ name }) => `${path}.env[name=${name}]: the operator sets this variable itself; remove it`);
}

/** Variables of users that say an option, which nothing would check. `path` is the component's. */
export function variableMistakes(
  path: string,
  env: PodInput['env'],
  overrides: ComponentOverrides | undefined,
): string[] {
  return (overrides?.env ?? [])
    .filter(({ name }) => variableOfOption.test(name) && ownValue(env, name) === undefined)
    .map(
      ({ name }) =>
        `${path}.env[name=${name}]: a variable of such a name is an option of OpenStack; set it in spec.config`,
    );
}

function resourcesOf(
  { resources, overrides, spec, nodeAgent }: Omit<PodInput, 'resources'> & Pick<ContainerInput, 'resources'>,
  main: boolean,
): unknown {
  if (main && overrides?.resources !== undefined) return overrides.resources;
  if (main && spec.resources !== undefined) return spec.resources;
  const { cpu = '25m', memory = '128Mi', ...others } = resources ?? {};
  // No CPU limit: throttled APIs time out. Node agents have no memory limit either (production rule 3).
  return {
    requests: { cpu, memory, ...others },
    ...(nodeAgent === undefined ? { limits: { memory: memoryLimitOf(memory) } } : {}),
  };
}

/** Four times the request: Python services under uwsgi grow with their workers. */
export function memoryLimitOf(request: string): string {
  const [, number = '', unit = ''] = /^(\d+)(.*)$/.exec(request) ?? [];
  return `${Number(number) * 4}${unit}`;
}
