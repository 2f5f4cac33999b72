import {
  type Clock,
  type Condition,
  type ConfigMap,
  type CustomResourceDefinition,
  type Deployment,
  defineKind,
  type KubeObject,
  type Service,
  type StoredObject,
  timestamp,
} from '@openstack-operator/kube';

/** The resource of the small operator. What is made of it here, bench/controller-runtime/reconciler.go makes as well. */
export interface Website extends KubeObject {
  spec: { image: string; replicas: number; text: string };
  status?: { observedGeneration: number; conditions: Condition[] };
}

export const Website = defineKind<Website>('bench.example.org/v1', 'Website', 'websites');

const text = { type: 'string' };
const integer = { type: 'integer', format: 'int64' };
const status = {
  type: 'object',
  properties: {
    observedGeneration: integer,
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: {
        type: 'object',
        required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
        properties: {
          type: text,
          status: text,
          observedGeneration: integer,
          lastTransitionTime: { ...text, format: 'date-time' },
          reason: text,
          message: text,
        },
      },
    },
  },
};
const spec = {
  type: 'object',
  required: ['image', 'replicas', 'text'],
  properties: { image: text, replicas: { type: 'integer', format: 'int32' }, text },
};

export const definition: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${Website.plural}.${Website.group}` },
  spec: {
    group: Website.group,
    names: { kind: Website.kind, plural: Website.plural },
    scope: 'Namespaced',
    versions: [
      {
        name: Website.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
      },
    ],
  },
};

/** One of those that are asked for. */
export function website(namespace: string, name: string): Website {
  return {
    apiVersion: `${Website.group}/${Website.version}`,
    kind: Website.kind,
    metadata: { namespace, name },
    spec: { image: 'example.org/web:1', replicas: 1, text: `This is ${name}.` },
  };
}

function metadataOf({ metadata: { name } }: StoredObject<Website>) {
  return { name, labels: labelsOf(name) };
}

function labelsOf(name: string) {
  return { 'app.kubernetes.io/name': 'website', 'app.kubernetes.io/instance': name };
}

export function configMapOf(site: StoredObject<Website>): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadataOf(site), data: { TEXT: site.spec.text } };
}

export function serviceOf(site: StoredObject<Website>): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(site),
    spec: { selector: labelsOf(site.metadata.name), ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
  };
}

export function deploymentOf(site: StoredObject<Website>): Deployment {
  const { name } = site.metadata;
  const container = {
    name: 'web',
    image: site.spec.image,
    ports: [{ name: 'http', containerPort: 8080 }],
    envFrom: [{ configMapRef: { name } }, { secretRef: { name } }],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(site),
    spec: {
      replicas: site.spec.replicas,
      selector: { matchLabels: labelsOf(name) },
      template: { metadata: { labels: labelsOf(name) }, spec: { containers: [container] } },
    },
  };
}

export function secretOf(site: StoredObject<Website>, token: string) {
  return { apiVersion: 'v1', kind: 'Secret', metadata: metadataOf(site), stringData: { TOKEN: token } };
}

/** The status of a Website with this Deployment. */
export function statusOf(
  { metadata: { generation = 0 }, spec: { replicas }, status }: StoredObject<Website>,
  deployment: StoredObject<Deployment>,
  clock: Clock,
): NonNullable<Website['status']> {
  const seen = deployment.status?.observedGeneration === deployment.metadata.generation;
  const available = seen && (deployment.status?.availableReplicas ?? 0) >= replicas;
  const before = status?.conditions.find(({ type }) => type === 'Ready');
  const now = available ? 'True' : 'False';
  const ready: Condition = {
    type: 'Ready',
    status: now,
    observedGeneration: generation,
    lastTransitionTime: before?.status === now ? before.lastTransitionTime : timestamp(clock),
    reason: available ? 'Available' : 'DeploymentNotAvailable',
    message: available ? 'all replicas are available' : `waiting for Deployment ${deployment.metadata.name}`,
  };
  return { observedGeneration: generation, conditions: [ready] };
}

export function isReady({ status }: StoredObject<Website>): boolean {
  return status?.conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true;
}
