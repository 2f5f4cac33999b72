import { Buffer } from 'node:buffer';
import { isObject, type JsonObject, objectOf, objectsOf, textOf } from '../json.ts';
import { formatQuantity, parseQuantity } from '../quantity.ts';
import type { Schema } from '../schema.ts';

/** Fills one value of a Go type in place, as SetDefaults_<Type> of k8s.io/kubernetes/pkg/apis does. */
type SetDefaults = (value: JsonObject) => void;

/** Sets what is absent, null, '' or 0. */
function fill(value: JsonObject, defaults: JsonObject): void {
  for (const [name, preset] of Object.entries(defaults)) {
    if (value[name] === undefined || value[name] === null || value[name] === '' || value[name] === 0) {
      value[name] = preset;
    }
  }
}

/** Sets what is absent or null; 0, false and '' were meant (Go pointers). */
function fillPointers(value: JsonObject, defaults: JsonObject): void {
  for (const [name, preset] of Object.entries(defaults)) value[name] ??= preset;
}

/** `child` of `value`, made when absent. */
function ensure(value: JsonObject, name: string): JsonObject {
  const existing = value[name];
  if (isObject(existing)) return existing;
  const created: JsonObject = {};
  value[name] = created;
  return created;
}

const defaultMode = 0o644;

function pullPolicy(image: unknown): string {
  const name = textOf(image).split('/').pop() ?? '';
  const latest = !name.includes('@') && (!name.includes(':') || name.endsWith(':latest'));
  return latest ? 'Always' : 'IfNotPresent';
}

function requestsFromLimits(container: JsonObject): void {
  const resources = objectOf(container.resources);
  if (!isObject(resources.limits)) return;
  resources.requests = { ...structuredClone(resources.limits), ...objectOf(resources.requests) };
}

function rollingUpdate(strategy: JsonObject, defaults: JsonObject): void {
  fill(strategy, { type: 'RollingUpdate' });
  if (strategy.type === 'RollingUpdate') fillPointers(ensure(strategy, 'rollingUpdate'), defaults);
}

function webhook(value: JsonObject): void {
  fillPointers(value, { failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10 });
  fillPointers(value, { namespaceSelector: {}, objectSelector: {} });
}

/** Go types by the name that schemas give them (`x-go-name`). Types of one name in several groups share an entry. */
const setDefaults: Readonly<Record<string, SetDefaults>> = {
  'v1.ResourceList': (list) => {
    for (const [name, amount] of Object.entries(list)) {
      const { nanos, format } = parseQuantity(String(amount));
      const milli = 1_000_000n;
      // Resources are kept to a thousandth, rounded up.
      list[name] = formatQuantity({ nanos: nanos + ((milli - (nanos % milli)) % milli), format });
    }
  },
  'v1.Pod': (pod) => {
    const spec = objectOf(pod.spec);
    const containers = [...objectsOf(spec.containers), ...objectsOf(spec.initContainers)];
    for (const container of containers) requestsFromLimits(container);
    fillPointers(spec, { enableServiceLinks: true });
    if (spec.hostNetwork !== true) return;
    for (const port of containers.flatMap((container) => objectsOf(container.ports))) {
      fill(port, { hostPort: port.containerPort });
    }
  },
  'v1.PodSpec': (spec) => {
    fill(spec, { dnsPolicy: 'ClusterFirst', restartPolicy: 'Always', schedulerName: 'default-scheduler' });
    fillPointers(spec, { securityContext: {}, terminationGracePeriodSeconds: 30 });
    const account = textOf(spec.serviceAccountName) || textOf(spec.serviceAccount);
    if (account !== '') Object.assign(spec, { serviceAccountName: account, serviceAccount: account });
  },
  'v1.Container': (container) => {
    fill(container, {
      imagePullPolicy: pullPolicy(container.image),
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    });
  },
  'v1.ContainerPort': (port) => fill(port, { protocol: 'TCP' }),
  'v1.Probe': (probe) => {
    fill(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
  },
  'v1.HTTPGetAction': (action) => fill(action, { path: '/', scheme: 'HTTP' }),
  'v1.GRPCAction': (action) => fillPointers(action, { service: '' }),
  'v1.Volume': (volume) => {
    if (Object.keys(volume).every((name) => name === 'name')) volume.emptyDir = {};
    const image = volume.image;
    if (isObject(image)) fill(image, { pullPolicy: pullPolicy(image.reference) });
  },
  'v1.SecretVolumeSource': (source) => fillPointers(source, { defaultMode }),
  'v1.ConfigMapVolumeSource': (source) => fillPointers(source, { defaultMode }),
  'v1.DownwardAPIVolumeSource': (source) => fillPointers(source, { defaultMode }),
  'v1.ProjectedVolumeSource': (source) => fillPointers(source, { defaultMode }),
  'v1.HostPathVolumeSource': (source) => fillPointers(source, { type: '' }),
  'v1.ISCSIVolumeSource': (source) => fill(source, { iscsiInterface: 'default' }),
  'v1.RBDVolumeSource': (source) => fill(source, { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' }),
  'v1.ServiceAccountTokenProjection': (source) => fillPointers(source, { expirationSeconds: 3600 }),
  'v1.ObjectFieldSelector': (selector) => fill(selector, { apiVersion: 'v1' }),
  'v1.Service': (service) => {
    const spec = objectOf(service.spec);
    fill(spec, { sessionAffinity: 'None', type: 'ClusterIP' });
    if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
    if (spec.sessionAffinity === 'ClientIP') {
      fillPointers(ensure(ensure(spec, 'sessionAffinityConfig'), 'clientIP'), { timeoutSeconds: 10_800 });
    }
    for (const port of objectsOf(spec.ports)) fill(port, { protocol: 'TCP', targetPort: port.port });
    const outside = spec.type === 'NodePort' || spec.type === 'LoadBalancer';
    const external = spec.type === 'ClusterIP' && Array.isArray(spec.externalIPs) && spec.externalIPs.length > 0;
    if (outside || external) fill(spec, { externalTrafficPolicy: 'Cluster' });
    if (outside || spec.type === 'ClusterIP') fillPointers(spec, { internalTrafficPolicy: 'Cluster' });
    if (spec.type === 'LoadBalancer') fillPointers(spec, { allocateLoadBalancerNodePorts: true });
  },
  'v1.Secret': (secret) => {
    fill(secret, { type: 'Opaque' });
    if (!isObject(secret.stringData)) return;
    const encoded = Object.entries(secret.stringData).map(([name, text]) => [
      name,
      Buffer.from(String(text)).toString('base64'),
    ]);
    secret.data = { ...objectOf(secret.data), ...Object.fromEntries(encoded) };
    delete secret.stringData;
  },
  'v1.Namespace': (namespace) => {
    const metadata = objectOf(namespace.metadata);
    if (metadata.name) ensure(metadata, 'labels')['kubernetes.io/metadata.name'] = metadata.name;
  },
  'v1.NamespaceStatus': (status) => fill(status, { phase: 'Active' }),
  'v1.NodeSpec': (spec) => {
    if (spec.podCIDR && !spec.podCIDRs) spec.podCIDRs = [spec.podCIDR];
  },
  'v1.NodeStatus': (status) => {
    if (isObject(status.capacity)) fillPointers(status, { allocatable: structuredClone(status.capacity) });
  },
  'v1.PersistentVolume': (volume) => {
    fill(ensure(volume, 'status'), { phase: 'Pending' });
    const spec = objectOf(volume.spec);
    fill(spec, { persistentVolumeReclaimPolicy: 'Retain' });
    fillPointers(spec, { volumeMode: 'Filesystem' });
  },
  'v1.PersistentVolumeClaim': (claim) => fill(ensure(claim, 'status'), { phase: 'Pending' }),
  'v1.PersistentVolumeClaimSpec': (spec) => fillPointers(spec, { volumeMode: 'Filesystem' }),
  'v1.EndpointPort': (port) => fillPointers(port, { protocol: 'TCP' }),
  'v1.EndpointSlice': (slice) => {
    for (const port of objectsOf(slice.ports)) fillPointers(port, { name: '' });
  },
  'v1.Deployment': ({ spec }) => {
    const deployment = objectOf(spec);
    fillPointers(deployment, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
    rollingUpdate(ensure(deployment, 'strategy'), { maxUnavailable: '25%', maxSurge: '25%' });
  },
  'v1.DaemonSet': ({ spec }) => {
    const set = objectOf(spec);
    rollingUpdate(ensure(set, 'updateStrategy'), { maxUnavailable: 1, maxSurge: 0 });
    fillPointers(set, { revisionHistoryLimit: 10 });
  },
  'v1.StatefulSet': ({ spec }) => {
    const set = objectOf(spec);
    fill(set, { podManagementPolicy: 'OrderedReady' });
    const strategy = ensure(set, 'updateStrategy');
    if (!strategy.type) {
      strategy.type = 'RollingUpdate';
      ensure(strategy, 'rollingUpdate');
    }
    if (strategy.type === 'RollingUpdate' && isObject(strategy.rollingUpdate)) {
      fillPointers(strategy.rollingUpdate, { partition: 0 });
    }
    fill(ensure(set, 'persistentVolumeClaimRetentionPolicy'), { whenDeleted: 'Retain', whenScaled: 'Retain' });
    fillPointers(set, { replicas: 1, revisionHistoryLimit: 10 });
    for (const claim of objectsOf(set.volumeClaimTemplates)) {
      fill(claim, { kind: 'PersistentVolumeClaim', apiVersion: 'v1' });
    }
  },
  'v1.ReplicaSet': ({ spec }) => fillPointers(objectOf(spec), { replicas: 1 }),
  'v1.Job': (job) => {
    const spec = objectOf(job.spec);
    if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
    fillPointers(spec, {
      parallelism: 1,
      backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : 2_147_483_647,
      completionMode: 'NonIndexed',
      suspend: false,
      podReplacementPolicy: isObject(spec.podFailurePolicy) ? 'Failed' : 'TerminatingOrFailed',
      manualSelector: false,
    });
    const metadata = objectOf(job.metadata);
    const labels = objectOf(objectOf(objectOf(spec.template).metadata).labels);
    if (Object.keys(objectOf(metadata.labels)).length === 0 && Object.keys(labels).length > 0) {
      metadata.labels = { ...labels };
    }
  },
  'v1.CronJob': ({ spec }) => {
    const cron = objectOf(spec);
    fill(cron, { concurrencyPolicy: 'Allow' });
    fillPointers(cron, { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
  },
  'v1.PodFailurePolicyOnPodConditionsPattern': (pattern) => fill(pattern, { status: 'True' }),
  'v1.NetworkPolicyPort': (port) => fillPointers(port, { protocol: 'TCP' }),
  'v1.NetworkPolicy': ({ spec }) => {
    const policy = objectOf(spec);
    if (Array.isArray(policy.policyTypes) && policy.policyTypes.length > 0) return;
    policy.policyTypes = objectsOf(policy.egress).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
  },
  'v1.IngressClass': ({ spec }) => {
    const { parameters } = objectOf(spec);
    if (isObject(parameters)) fillPointers(parameters, { scope: 'Cluster' });
  },
  'v1.RoleRef': (reference) => fill(reference, { apiGroup: 'rbac.authorization.k8s.io' }),
  'v1.Subject': (subject) => {
    // Those of FlowSchemas have no name of their own, and no group.
    if (typeof subject.name !== 'string') return;
    if (subject.kind === 'User' || subject.kind === 'Group') fill(subject, { apiGroup: 'rbac.authorization.k8s.io' });
  },
  'v1.StorageClass': (storageClass) => {
    fillPointers(storageClass, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' });
  },
  'v1.FlowSchemaSpec': (spec) => fill(spec, { matchingPrecedence: 1000 }),
  'v1.PriorityClass': (priorityClass) => fillPointers(priorityClass, { preemptionPolicy: 'PreemptLowerPriority' }),
  'v2.HorizontalPodAutoscaler': ({ spec }) => {
    const autoscaler = objectOf(spec);
    fillPointers(autoscaler, { minReplicas: 1 });
    if (objectsOf(autoscaler.metrics).length === 0) {
      const target = { type: 'Utilization', averageUtilization: 80 };
      autoscaler.metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }];
    }
    if (!isObject(autoscaler.behavior)) return;
    const percent = { type: 'Percent', value: 100, periodSeconds: 15 };
    fillPointers(ensure(autoscaler.behavior, 'scaleUp'), {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, percent],
    });
    fillPointers(ensure(autoscaler.behavior, 'scaleDown'), { selectPolicy: 'Max', policies: [{ ...percent }] });
  },
  'v1.ValidatingWebhook': webhook,
  'v1.MutatingWebhook': (value) => {
    webhook(value);
    fillPointers(value, { reinvocationPolicy: 'Never' });
  },
  'v1.RuleWithOperations': (rule) => fillPointers(rule, { scope: '*' }),
  'v1.NamedRuleWithOperations': (rule) => fillPointers(rule, { scope: '*' }),
  'v1.ServiceReference': (reference) => fillPointers(reference, { port: 443 }),
  'v1.ValidatingAdmissionPolicySpec': (spec) => fillPointers(spec, { failurePolicy: 'Fail' }),
  'v1.MatchResources': (resources) => {
    fillPointers(resources, { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} });
  },
  'v1.CustomResourceDefinition': (definition) => {
    const spec = objectOf(definition.spec);
    const names = ensure(spec, 'names');
    fill(names, { singular: textOf(names.kind).toLowerCase() });
    if (names.kind) fill(names, { listKind: `${textOf(names.kind)}List` });
    fillPointers(spec, { conversion: { strategy: 'None' } });
    const status = ensure(definition, 'status');
    const storage = objectsOf(spec.versions).find((version) => version.storage === true);
    if (storage && !(Array.isArray(status.storedVersions) && status.storedVersions.length > 0)) {
      status.storedVersions = [storage.name];
    }
  },
};

/** Fills an object of a built-in kind in place: each value by its Go type, outer ones first, as the API server does. */
export function applyTypeDefaults(schema: Schema, value: unknown): void {
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) applyTypeDefaults(schema.items, item);
    return;
  }
  if (!isObject(value)) return;
  setDefaults[schema['x-go-name'] ?? '']?.(value);
  const { properties, additionalProperties } = schema;
  for (const [name, field] of Object.entries(value)) {
    const fieldSchema = properties?.[name] ?? additionalProperties;
    if (typeof fieldSchema === 'object' && typeof field === 'object') applyTypeDefaults(fieldSchema, field);
  }
}
