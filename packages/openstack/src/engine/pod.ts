import { type User, users } from '@openstack-operator/facts/users';
import {
  type Component,
  type Health,
  type Init,
  type Mount,
  type NodeAgent,
  portsByContainer,
  protocolOf,
  type Runs,
  type Sidecar,
  type Variable,
} from './component.ts';
import type { ConfigSet } from './config.ts';
import { connectedProbe } from './connected.ts';
import { ownValue } from './own-value.ts';
import { reloadMercySeconds, startOf } from './start.ts';
import type { ComponentOverrides, ServiceSpec } from './surroundings.ts';

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

/** The spec of a pod: restricted (Pod Security Standards) unless it is a node agent. */
export function podSpec(input: PodInput): Record<string, unknown> {
  const { nodeAgent, overrides, spec } = input;
  const volumes = new Volumes(input);
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
      securityContext: containerSecurity(nodeAgent, users[user]),
      terminationMessagePolicy: 'FallbackToLogsOnError',
      volumeMounts: volumes.mounts,
    });
  };
  const uid = users[input.user];
  return defined({
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    hostNetwork: nodeAgent === undefined ? undefined : true,
    hostPID: nodeAgent?.hostPID,
    dnsPolicy: nodeAgent === undefined ? undefined : 'ClusterFirstWithHostNet',
    restartPolicy: input.restartPolicy,
    terminationGracePeriodSeconds: input.graceSeconds ?? ('wsgi' in input.runs ? wsgiGraceSeconds : 30),
    imagePullSecrets: spec.imagePullSecrets,
    nodeSelector: nodeAgent === undefined ? (overrides?.nodeSelector ?? spec.nodeSelector) : nodeAgent.nodes,
    // Taints decide which nodes are claimed. On a claimed node guests run, and their agents stay whatever taint follows.
    tolerations: overrides?.tolerations ?? (nodeAgent === undefined ? spec.tolerations : [{ operator: 'Exists' }]),
    affinity: nodeAgent === undefined ? overrides?.affinity : undefined,
    topologySpreadConstraints: overrides?.topologySpreadConstraints,
    priorityClassName:
      overrides?.priorityClassName ?? (nodeAgent === undefined ? spec.priorityClassName : 'system-node-critical'),
    securityContext:
      nodeAgent === undefined
        ? {
            runAsNonRoot: true,
            runAsUser: uid,
            runAsGroup: uid,
            fsGroup: uid,
            fsGroupChangePolicy: 'OnRootMismatch',
            seccompProfile: { type: 'RuntimeDefault' },
          }
        : { runAsUser: uid, runAsGroup: uid },
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

function variablesFrom(configs: readonly ConfigSet[]): unknown {
  const secrets = configs.flatMap(({ environment }) => (environment === undefined ? [] : [environment]));
  return secrets.length === 0 ? undefined : secrets.map((name) => ({ secretRef: { name } }));
}

/** Collects the volumes of a pod and where they are mounted. */
class Volumes {
  readonly volumes: Record<string, unknown>[] = [];
  readonly mounts: Record<string, unknown>[] = [];

  constructor(input: PodInput) {
    for (const set of input.configs) this.#config(set);
    this.mounts.push({ name: 'tmp', mountPath: '/tmp' });
    this.volumes.push({ name: 'tmp', emptyDir: {} });
    for (const mount of input.mounts ?? []) this.#mount(mount, input.ownClaims ?? []);
  }

  #config({ volume, configMap, paths, secretFiles, secretPaths }: ConfigSet): void {
    if (configMap !== undefined)
      this.volumes.push({ name: volume, configMap: { name: configMap, defaultMode: 0o444 } });
    this.#files(volume, paths);
    const secretVolume = `${volume}-secret`;
    if (secretFiles !== undefined)
      this.volumes.push({ name: secretVolume, secret: { secretName: secretFiles, defaultMode: 0o440 } });
    this.#files(secretVolume, secretPaths);
  }

  /** File by file: what the image itself has beside them (api-paste.ini, rootwrap.d) stays visible. */
  #files(name: string, paths: Readonly<Record<string, string>>): void {
    for (const [mountPath, subPath] of Object.entries(paths)) {
      this.mounts.push({ name, mountPath, subPath, readOnly: true });
    }
  }

  #mount(mount: Mount, ownClaims: readonly string[]): void {
    const name = 'claim' in mount ? mount.claim : volumeName(mount.path);
    if ('secret' in mount) {
      this.#volume(name, { secret: { secretName: mount.secret, defaultMode: 0o440 } });
      this.mounts.push(defined({ name, mountPath: mount.path, subPath: mount.key, readOnly: true }));
      return;
    }
    if ('claim' in mount) {
      if (!ownClaims.includes(name)) this.#volume(name, { persistentVolumeClaim: { claimName: mount.claim } });
      this.mounts.push(defined({ name, mountPath: mount.path, subPath: mount.subPath }));
      return;
    }
    if ('host' in mount) {
      this.#volume(name, { hostPath: { path: mount.from ?? mount.path, type: mount.host } });
      this.mounts.push(
        defined({
          name,
          mountPath: mount.path,
          mountPropagation: mount.shared === true ? 'Bidirectional' : undefined,
          readOnly: mount.readOnly,
        }),
      );
      return;
    }
    this.#volume(name, { emptyDir: mount.memory === true ? { medium: 'Memory' } : {} });
    this.mounts.push({ name, mountPath: mount.path });
  }

  #volume(name: string, source: Record<string, unknown>): void {
    if (!this.volumes.some((volume) => volume['name'] === name)) this.volumes.push({ name, ...source });
  }
}

/** A DNS label made of a path: `/var/lib/nova` -> `var-lib-nova`. */
function volumeName(path: string): string {
  return path
    .slice(1)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 63);
}

function containerPorts(ports: PodInput['ports'], { udp = [], nodeAgent }: PodInput): unknown {
  if (ports === undefined) return undefined;
  return Object.entries(ports).map(([name, containerPort]) =>
    defined({
      name,
      containerPort,
      protocol: protocolOf({ udp }, name),
      hostPort: nodeAgent === undefined ? undefined : containerPort,
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
  // A name twice is refused by the API server; it is told as a problem (environmentProblems).
  const all = [...own, ...(overrides?.env ?? []).filter(({ name }) => ownValue(env, name) === undefined)];
  return all.length === 0 ? undefined : all;
}

/** Variables of users that have the name of one of the operator's own: both cannot be. `path` is the component's. */
export function environmentProblems(
  path: string,
  env: PodInput['env'],
  overrides: ComponentOverrides | undefined,
): string[] {
  return (overrides?.env ?? [])
    .filter(({ name }) => ownValue(env, name) !== undefined)
    .map(
      ({ name }) =>
        `${path}.env[name=${name}]: the operator sets this variable itself, to what the pod needs; remove it`,
    );
}

/** What decides on probes. */
type Probed = Pick<PodInput, 'startupSeconds' | 'nodeAgent'> & { readonly health: Health | undefined };

/** Seconds in which a Service lets go of a pod. */
const letGoSeconds = 5;

/** What an API under uwsgi takes to stop at most: its Service lets go, its requests end, its master ends. */
const wsgiGraceSeconds = letGoSeconds + reloadMercySeconds + 5;

/** Requests that are still on their way to an API find it: it stops a little after its Service has let go of it. */
function lifecycle({ health, nodeAgent }: Probed): unknown {
  if (health === undefined || !('get' in health) || nodeAgent !== undefined) return undefined;
  return { preStop: { sleep: { seconds: letGoSeconds } } };
}

/**
 * Node agents are never restarted for being slow: a restart would reach the guests (production rule 3). Neither is
 * anything else soon: on a machine that has too much to do, restarts take the processor from those that still answer.
 */
function probes({ health, startupSeconds = 600, nodeAgent }: Probed): Record<string, unknown> {
  if (health === undefined) return {};
  const { periodSeconds = 'connected' in health ? 10 : 5 } = health;
  const timeoutSeconds = Math.max(5, Math.ceil(periodSeconds / 2));
  const readinessProbe = { ...handlerOf(health, 'ready'), periodSeconds, timeoutSeconds, failureThreshold: 3 };
  if (nodeAgent !== undefined) return { readinessProbe };
  const handler = handlerOf(health, 'alive');
  const startupPeriod = Math.min(periodSeconds, 'get' in health || 'tcp' in health ? 2 : 5);
  return {
    startupProbe: {
      ...handler,
      periodSeconds: startupPeriod,
      timeoutSeconds,
      failureThreshold: Math.ceil(startupSeconds / startupPeriod),
    },
    readinessProbe,
    livenessProbe: {
      ...handler,
      periodSeconds: Math.max(30, periodSeconds),
      timeoutSeconds: Math.max(10, timeoutSeconds),
      failureThreshold: 10,
    },
  };
}

/** What a probe asks: the same whether it decides on traffic or on a restart, unless it depends on others. */
function handlerOf(health: Health, question: 'ready' | 'alive'): Record<string, unknown> {
  if ('get' in health) return { httpGet: { path: health.get, port: health.port, scheme: 'HTTP' } };
  if ('tcp' in health) return { tcpSocket: { port: health.tcp } };
  if ('connected' in health) return { exec: { command: connectedProbe(health, question) } };
  return { exec: { command: (question === 'alive' ? health.alive : undefined) ?? health.exec } };
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

function containerSecurity(nodeAgent: NodeAgent | undefined, uid: number): Record<string, unknown> {
  if (nodeAgent?.privileged === true) return { privileged: true, runAsUser: uid };
  if (nodeAgent !== undefined) {
    return { runAsUser: uid, capabilities: { drop: ['ALL'], add: [...(nodeAgent.capabilities ?? [])] } };
  }
  return {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsUser: uid,
    capabilities: { drop: ['ALL'] },
  };
}

/** The object without its undefined fields. */
export function defined<T extends Record<string, unknown>>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
