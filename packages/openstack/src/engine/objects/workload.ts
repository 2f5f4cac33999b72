import type { KubeObject } from '@openstack-operator/kube';
import { type EnvVar, variableReads } from '../compose/preconditions.ts';
import type { ConfigSet } from '../configuration/config.ts';
import { credentialDigest, templateOf } from '../names/credential-digest.ts';
import { defined } from '../names/defined.ts';
import { annotations, labelsOf, selectorOf } from '../names/names.ts';
import { serviceAccountOf } from '../vocabulary/access.ts';
import { apiAuthority } from '../vocabulary/api-tls.ts';
import { type Claim, type Component, type Init, type Mount, protocolOf } from '../vocabulary/component.ts';
import type { Context } from '../vocabulary/context.ts';
import type { Service } from '../vocabulary/service.ts';
import { type ComponentOverrides, configMapDigest, type Surroundings } from '../vocabulary/surroundings.ts';
import { folderOf } from '../vocabulary/trust.ts';
import { imageOf } from './images.ts';
import { type PodInput, podSpec } from './pod.ts';

/** One component with all that its objects are made of. */
export interface ComponentInput {
  readonly service: Service;
  readonly context: Context;
  readonly name: string;
  readonly component: Component;
  /** Whether it is the service's first component: `spec.replicas`, `spec.image`, `spec.resources` mean it. */
  readonly main: boolean;
  readonly configs: readonly ConfigSet[];
}

/** Name of a component's workload, and of its Service. */
export function workloadName({
  context,
  name,
  component,
}: Pick<ComponentInput, 'context' | 'name' | 'component'>): string {
  return context.named(component.suffix ?? name);
}

/** Replicas of a component: the override, `spec.replicas` for the main one, the definition's default. */
export function replicasOf({
  context,
  name,
  component,
  main,
}: Pick<ComponentInput, 'context' | 'name' | 'component' | 'main'>): number {
  return (
    component.quorum?.size ??
    context.spec.components?.[component.variantOf ?? name]?.replicas ??
    (main ? context.spec.replicas : undefined) ??
    component.replicas ??
    1
  );
}

/** The Deployment, StatefulSet or DaemonSet of a component. */
export function workload(input: ComponentInput): KubeObject {
  const { service, context, name, component, main } = input;
  const { scheduling } = component;
  const stated = context.spec.components?.[component.variantOf ?? name];
  const overrides = scheduling === undefined ? stated : { ...stated, ...scheduled(scheduling, stated?.affinity) };
  const selector = selectorOf(service.name, context.name, name);
  const metadata = {
    name: workloadName(input),
    namespace: context.namespace,
    labels: labelsOf(service.name, context.name, name),
    ...(component.strategy === 'RollingUpdate' ? { annotations: { [annotations.replacedUnasked]: 'true' } } : {}),
  };
  const template = {
    metadata: defined({
      labels: labelsOf(service.name, context.name, name),
      annotations: podAnnotations(input, overrides),
    }),
    spec: withSpread(podSpec(podInput(input, overrides)), input, selector),
  };
  const replicas = replicasOf({ context, name, component, main });
  switch (component.workload) {
    case 'Deployment':
      return {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata,
        spec: {
          replicas,
          revisionHistoryLimit: 3,
          selector: { matchLabels: selector },
          strategy: rolloutOf(component),
          template,
        },
      };
    case 'StatefulSet':
      return {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata,
        spec: {
          replicas,
          revisionHistoryLimit: 3,
          serviceName: component.quorum?.primary === undefined ? metadata.name : membersName(input),
          // After a power cut members of a quorum wait for each other.
          podManagementPolicy: component.quorum === undefined ? 'OrderedReady' : 'Parallel',
          selector: { matchLabels: selector },
          updateStrategy:
            component.quorum === undefined
              ? // Without the partition a pod that is deleted is made of the template of before (stateful_set_utils.go).
                { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }
              : // Members are replaced by the operator: the StatefulSet controller takes one while another one is away.
                { type: 'OnDelete' },
          // They go with the resource (keepVolumes of the operator), and not with a StatefulSet that somebody deletes.
          persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
          template,
          volumeClaimTemplates: (component.claims ?? []).map((claim) => claimTemplate(claim, metadata.labels)),
        },
      };
    case 'DaemonSet':
      return {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata,
        spec: {
          revisionHistoryLimit: 3,
          selector: { matchLabels: selector },
          // Replaced by the operator, group by group: to the DaemonSet controller a node that is off counts as one that
          // is being replaced, and keeps a change from all the others.
          updateStrategy: { type: 'OnDelete' },
          template,
        },
      };
  }
}

/** Where pods of a variant may run, as overrides of what is stated of its component. */
function scheduled(
  { node, ...scheduling }: NonNullable<Component['scheduling']>,
  affinity: unknown,
): Pick<ComponentOverrides, 'nodeSelector' | 'tolerations' | 'affinity'> {
  if (node === undefined) return scheduling;
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] };
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } };
  // Labels that are asked for of others may go from the node, and the pod is to start there all the same.
  return { nodeSelector: {}, ...scheduling, affinity: { ...(affinity as object | undefined), nodeAffinity } };
}

/** How a Deployment comes to new pods: none is missed meanwhile, where an old one does not stand in the way of a new one. */
function rolloutOf({ strategy, host, ports }: Component): Record<string, unknown> {
  if (strategy === 'Recreate') return { type: 'Recreate' };
  const isInTheWay = host?.network === true && ports !== undefined;
  return {
    type: 'RollingUpdate',
    rollingUpdate: isInTheWay ? { maxSurge: 0, maxUnavailable: 1 } : { maxSurge: 1, maxUnavailable: 0 },
  };
}

/** The Service of a component; undefined when it has none. */
export function serviceOf(input: ComponentInput): KubeObject | undefined {
  const { service, context, name, component } = input;
  if (component.ports === undefined || component.service === 'none') return undefined;
  const headless = component.service === 'headless';
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: workloadName(input),
      namespace: context.namespace,
      labels: labelsOf(service.name, context.name, name),
    },
    spec: defined({
      clusterIP: headless ? 'None' : undefined,
      // A member must find its own name before it is ready: RabbitMQ's node name, OVN's raft address.
      publishNotReadyAddresses: headless ? true : undefined,
      selector: {
        ...selectorOf(service.name, context.name, name),
        ...(component.quorum?.primary === undefined ? {} : { [podNameLabel]: component.quorum.primary }),
      },
      ports: servicePorts(
        component,
        Object.keys(component.ports).filter((port) => component.quorum?.ports.includes(port) !== true),
      ),
    }),
  };
}

/** Names of pods of a StatefulSet, as its controller labels them. */
const podNameLabel = 'statefulset.kubernetes.io/pod-name';

function servicePorts(component: Component, names: readonly string[]): object[] {
  return names.map((port) => ({
    name: port,
    port: component.servicePorts?.[port] ?? component.ports?.[port],
    protocol: protocolOf(component, port),
    targetPort: port,
  }));
}

function membersName(input: ComponentInput): string {
  return `${workloadName(input)}-members`;
}

/** The Service by whose names the members of a quorum find each other, before they are ready. */
export function membersService(input: ComponentInput): KubeObject | undefined {
  const { service, context, name, component } = input;
  if (component.quorum?.primary === undefined) return undefined;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: membersName(input),
      namespace: context.namespace,
      labels: labelsOf(service.name, context.name, name),
    },
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: selectorOf(service.name, context.name, name),
      ports: servicePorts(component, Object.keys(component.ports ?? {})),
    },
  };
}

/** One Service for each member of a StatefulSet whose clients need addresses: `<name>-0`, `<name>-1`, ... */
export function memberServices(input: ComponentInput): KubeObject[] {
  const { service, context, name, component } = input;
  const { memberPorts = [] } = component;
  if (memberPorts.length === 0) return [];
  return Array.from({ length: replicasOf(input) }, (_, index) => {
    const member = `${workloadName(input)}-${index}`;
    return {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: member, namespace: context.namespace, labels: labelsOf(service.name, context.name, name) },
      spec: {
        selector: {
          ...selectorOf(service.name, context.name, name),
          [podNameLabel]: member,
        },
        ports: servicePorts(component, memberPorts),
      },
    };
  });
}

function podInput(input: ComponentInput, overrides: ComponentOverrides | undefined): PodInput {
  const { service, context, name, component, main } = input;
  const { spec, release } = context;
  const imageFor = (image: string) => imageOf(image, { component: component.variantOf ?? name, main, spec, release });
  const withImage = <T extends Init>(one: T) => ({
    ...one,
    image:
      one.image === undefined
        ? imageFor(component.image)
        : imageOf(one.image, { component: one.name, main: false, spec, release }),
  });
  return defined({
    ...component,
    name,
    image: imageFor(component.image),
    user: component.user ?? service.user,
    init: component.init?.map(withImage),
    sidecars: component.sidecars?.map(withImage),
    configs: input.configs,
    serviceAccount: serviceAccountOf(service, context, name),
    ownClaims: component.claims?.map((claim) => claim.name),
    spec: main ? spec : { ...spec, resources: undefined },
    overrides,
  }) as unknown as PodInput;
}

/** Rolls the pods when something changes that they read at start only: variables, and files mounted one by one. */
function podAnnotations(
  input: ComponentInput,
  overrides: ComponentOverrides | undefined,
): Record<string, string> | undefined {
  const { context, component, configs } = input;
  const { digest, digestKeyId } = context.surroundings;
  const resolved = [...configs.flatMap((set) => set.inputs), ...apisAsReached(input)];
  const whole = [...resolved, ...brought(component, digest), ...userInputs(overrides, digest)];
  const template = [...resolved.map(templateOf), ...brought(component, none), ...userInputs(overrides, none)];
  const own =
    whole.length === 0 ? {} : { [annotations.credentials]: credentialDigest(digestKeyId, { template, whole }) };
  const all = { ...overrides?.annotations, ...own };
  return Object.keys(all).length === 0 ? undefined : all;
}

/** What agents on nodes know of the APIs, where these have TLS: they may not wait where it changes, as they would reach none. */
function apisAsReached({ service, context, component, configs }: ComponentInput): string[] {
  const authority = apiAuthority(service, context);
  const trusts = configs.some(({ mounts }) => mounts.some(({ path }) => path === folderOf('identity')));
  if (component.nodeAgent === undefined || authority === undefined || !trusts) return [];
  return [`${authority.secret} ${authority.inCatalogue ? 'used' : 'trusted'}`];
}

type Digest = Surroundings['digest'];

const none: Digest = () => undefined;

/** Digests of the Secrets that a container reads at its start only: variables, and files mounted one by one. */
function brought({ env = {}, mounts = [] }: Component, digest: Digest): string[] {
  const fromEnv = Object.values(env).flatMap((one) => (typeof one === 'object' && 'secret' in one ? [one.secret] : []));
  const fromFiles = mounts.flatMap((mount: Mount) =>
    'secret' in mount && mount.key !== undefined ? [mount.secret] : [],
  );
  return [...new Set([...fromEnv, ...fromFiles])].sort().map((secret) => `${secret} ${digest(secret) ?? ''}`);
}

/** Digests of the Secrets and ConfigMaps that variables and single files of the user come from: read at the start only. */
function userInputs(overrides: ComponentOverrides | undefined, digest: Digest): string[] {
  const reads = variableReads((overrides?.env ?? []) as readonly EnvVar[]);
  const variables = reads.map(({ kind, name }) => (kind === 'Secret' ? name : configMapDigest(name)));
  const files = (overrides?.extraVolumes ?? []).flatMap(({ subPath, secret, configMap }) => {
    if (subPath === undefined) return [];
    return [...(secret ? [secret.secretName] : []), ...(configMap ? [configMapDigest(configMap.name)] : [])];
  });
  const names = [...variables, ...files];
  return [...new Set(names)].sort().map((name) => `${name} ${digest(name) ?? ''}`);
}

/**
 * Replicas of one component go to different nodes where they can, unless the user says otherwise, and several of them to different
 * zones. By affinity, as of constraints a node counts for none unless it has the labels of all (podtopologyspread/scoring.go), and
 * many clusters have no zones. Nothing is demanded: a volume on a node that has a member already would keep its own from starting.
 */
function withSpread(
  spec: Record<string, unknown>,
  input: ComponentInput,
  selector: Record<string, string>,
): Record<string, unknown> {
  const { workload, quorum } = input.component;
  if (workload === 'DaemonSet' || spec['topologySpreadConstraints'] !== undefined) return spec;
  const isSeveral = replicasOf(input) > 1;
  const meant = {
    labelSelector: { matchLabels: selector },
    // While pods are replaced those of before are not in the way.
    ...(isSeveral && workload === 'Deployment' ? { matchLabelKeys: ['pod-template-hash'] } : {}),
  };
  const zones = isSeveral && (workload === 'Deployment' || quorum !== undefined) ? [zone] : [];
  return {
    ...spec,
    ...(zones.length === 0 || spec['affinity'] !== undefined
      ? {}
      : { affinity: keptApart([...zones, ...(quorum === undefined ? [] : [host])], meant) }),
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: host, whenUnsatisfiable: 'ScheduleAnyway', ...meant }],
  };
}

const host = 'kubernetes.io/hostname';
const zone = 'topology.kubernetes.io/zone';

/** That pods had rather not share any of these with each other. */
function keptApart(topologyKeys: readonly string[], meant: object): object {
  return {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: topologyKeys.map((topologyKey) => ({
        weight: 100,
        podAffinityTerm: { topologyKey, ...meant },
      })),
    },
  };
}

function claimTemplate(claim: Claim, labels: Record<string, string>): Record<string, unknown> {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: claim.name, labels },
    spec: defined({
      accessModes: [claim.accessMode ?? 'ReadWriteOnce'],
      storageClassName: claim.storageClassName,
      resources: { requests: { storage: claim.size } },
    }),
  };
}
