import type { KubeObject } from '@openstack-operator/kube';

/** An object to create, and where. */
export interface Sample {
  /** Such as `/apis/apps/v1/namespaces/<namespace>/deployments`. */
  readonly path: string;
  readonly object: KubeObject;
}

const core = '/api/v1';
const inNamespace = (group: string, plural: string) => `${group}/namespaces/<namespace>/${plural}`;

function sample(
  group: string,
  plural: string,
  kind: string,
  rest: object,
  options: { namespaced?: boolean } = {},
): Sample {
  const apiVersion = group.replace(/^\/apis?\//, '');
  const { metadata, ...content } = rest as { metadata?: object };
  return {
    path: (options.namespaced ?? true) ? inNamespace(group, plural) : `${group}/${plural}`,
    object: { apiVersion, kind, metadata: { name: 'sample', ...metadata }, ...content },
  };
}

const labels = { app: 'sample' };
const container = { name: 'main', image: 'registry.example.com/sample' };
const template = { metadata: { labels }, spec: { containers: [container] } };
const selector = { matchLabels: labels };

/** A pod with all that has defaults of its own. */
const richPodSpec = {
  hostNetwork: true,
  serviceAccountName: 'default',
  automountServiceAccountToken: false,
  nodeSelector: {},
  tolerations: [{ operator: 'Exists' }],
  initContainers: [{ ...container, name: 'first', image: 'a:latest', command: ['true'], env: [] }],
  containers: [
    {
      ...container,
      image: 'a@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns', hostPort: 0 }],
      env: [
        { name: 'A', value: '' },
        { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        { name: 'D', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: false } } },
      ],
      resources: { limits: { cpu: '0.5', memory: '1024Mi' }, requests: { cpu: '1e-1' } },
      livenessProbe: { httpGet: { port: 80, path: '' }, initialDelaySeconds: 0 },
      readinessProbe: { tcpSocket: { port: 'dns' }, periodSeconds: 3 },
      startupProbe: { grpc: { port: 80 } },
      lifecycle: { preStop: { exec: { command: ['true'] } } },
      securityContext: { runAsUser: 0, readOnlyRootFilesystem: false },
      volumeMounts: [{ name: 'config', mountPath: '/etc/config', readOnly: false, subPath: '' }],
    },
  ],
  volumes: [
    { name: 'config', configMap: { name: 'c' } },
    { name: 'secret', secret: { secretName: 's', items: [{ key: 'a', path: 'b' }] } },
    { name: 'empty', emptyDir: { sizeLimit: '1000Ki' } },
    { name: 'nothing' },
    { name: 'host', hostPath: { path: '/run' } },
    { name: 'claim', persistentVolumeClaim: { claimName: 'x' } },
    {
      name: 'projected',
      projected: {
        sources: [
          { serviceAccountToken: { path: 'token' } },
          { downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        ],
      },
    },
  ],
};

const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } };
const apps = '/apis/apps/v1';
const batch = '/apis/batch/v1';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const registration = '/apis/admissionregistration.k8s.io/v1';
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
const jobTemplate = { spec: { ...template.spec, restartPolicy: 'Never' } };
const webhook = {
  name: 'a.example.com',
  clientConfig: { service: { name: 's', namespace: 'n' } },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
};

/** Objects of every built-in kind that the sandbox serves, by a name for each. */
export const samples: Readonly<Record<string, Sample>> = {
  namespace: sample(core, 'namespaces', 'Namespace', { metadata: { name: '<namespace>-2' } }, { namespaced: false }),
  node: sample(
    core,
    'nodes',
    'Node',
    {
      metadata: { name: '<namespace>' },
      spec: { taints: [{ key: 'a', effect: 'NoSchedule' }], podCIDR: '10.0.0.0/24' },
    },
    { namespaced: false },
  ),
  pod: sample(core, 'pods', 'Pod', { spec: template.spec }),
  'pod-rich': sample(core, 'pods', 'Pod', { spec: richPodSpec }),
  'pod-zeros': sample(core, 'pods', 'Pod', {
    metadata: { labels: {}, annotations: {}, finalizers: [], ownerReferences: [] },
    spec: {
      ...template.spec,
      hostNetwork: false,
      hostname: '',
      terminationGracePeriodSeconds: 0,
      tolerations: [],
      volumes: [],
    },
  }),
  service: sample(core, 'services', 'Service', { spec: { selector: labels, ports: [{ port: 80 }] } }),
  'service-headless': sample(core, 'services', 'Service', {
    spec: { clusterIP: 'None', selector: labels, ports: [{ port: 80, targetPort: 'http', name: 'http' }] },
  }),
  'service-affinity': sample(core, 'services', 'Service', {
    spec: { sessionAffinity: 'ClientIP', ports: [{ port: 80, protocol: 'UDP' }], publishNotReadyAddresses: false },
  }),
  'service-external': sample(core, 'services', 'Service', {
    spec: { type: 'ExternalName', externalName: 'a.example.com' },
  }),
  endpoints: sample(core, 'endpoints', 'Endpoints', {
    subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }],
  }),
  'config-map': sample(core, 'configmaps', 'ConfigMap', { data: { a: '' }, binaryData: {}, immutable: false }),
  'config-map-empty': sample(core, 'configmaps', 'ConfigMap', {}),
  secret: sample(core, 'secrets', 'Secret', { stringData: { a: 'b' }, data: { c: 'ZA==' } }),
  'secret-tls': sample(core, 'secrets', 'Secret', {
    type: 'kubernetes.io/tls',
    data: { 'tls.crt': '', 'tls.key': 'ZA==' },
  }),
  'service-account': sample(core, 'serviceaccounts', 'ServiceAccount', { imagePullSecrets: [{ name: 'a' }] }),
  'persistent-volume': sample(
    core,
    'persistentvolumes',
    'PersistentVolume',
    {
      metadata: { name: '<namespace>' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
    },
    { namespaced: false },
  ),
  'persistent-volume-claim': sample(core, 'persistentvolumeclaims', 'PersistentVolumeClaim', { spec: claimSpec }),
  event: sample(core, 'events', 'Event', {
    involvedObject: { kind: 'Pod', namespace: '<namespace>', name: 'x' },
    reason: 'R',
    firstTimestamp: '2026-01-01T01:00:00+01:00',
  }),
  'new-event': sample('/apis/events.k8s.io/v1', 'events', 'Event', {
    eventTime: '2026-01-01T00:00:00.500000Z',
    reportingController: 'a.example.com/b',
    reportingInstance: 'x',
    action: 'A',
    reason: 'R',
    type: 'Normal',
    regarding: { kind: 'Pod', namespace: '<namespace>', name: 'x' },
  }),
  deployment: sample(apps, 'deployments', 'Deployment', { spec: { selector, template } }),
  'deployment-rich': sample(apps, 'deployments', 'Deployment', {
    spec: {
      selector,
      replicas: 0,
      minReadySeconds: 0,
      paused: false,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
      template: { metadata: { labels, annotations: {} }, spec: richPodSpec },
    },
    status: { replicas: 3 },
  }),
  'deployment-recreate': sample(apps, 'deployments', 'Deployment', {
    spec: { selector, template, strategy: { type: 'Recreate' } },
  }),
  'replica-set': sample(apps, 'replicasets', 'ReplicaSet', { spec: { selector, template } }),
  'stateful-set': sample(apps, 'statefulsets', 'StatefulSet', { spec: { selector, template, serviceName: 'x' } }),
  'stateful-set-claims': sample(apps, 'statefulsets', 'StatefulSet', {
    spec: {
      selector,
      serviceName: '',
      updateStrategy: { type: 'OnDelete' },
      template: {
        metadata: { labels },
        spec: { containers: [{ ...container, volumeMounts: [{ name: 'data', mountPath: '/data' }] }] },
      },
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec }],
    },
  }),
  'daemon-set': sample(apps, 'daemonsets', 'DaemonSet', { spec: { selector, template } }),
  'daemon-set-on-delete': sample(apps, 'daemonsets', 'DaemonSet', {
    spec: { selector, template, updateStrategy: { type: 'OnDelete' } },
  }),
  'controller-revision': sample(apps, 'controllerrevisions', 'ControllerRevision', { data: { a: {} }, revision: 1 }),
  job: sample(batch, 'jobs', 'Job', { spec: { template: jobTemplate } }),
  'job-rich': sample(batch, 'jobs', 'Job', {
    metadata: { labels: { own: 'label' } },
    spec: {
      template: { metadata: { labels }, ...jobTemplate },
      parallelism: 2,
      backoffLimit: 0,
      podReplacementPolicy: 'Failed',
      podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [3] } }] },
    },
  }),
  'cron-job': sample(batch, 'cronjobs', 'CronJob', {
    spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: jobTemplate } } },
  }),
  'endpoint-slice': sample('/apis/discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice', {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions: {} }],
    ports: [{ port: 80 }],
  }),
  'network-policy': sample('/apis/networking.k8s.io/v1', 'networkpolicies', 'NetworkPolicy', {
    spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }], from: [{ podSelector: {} }] }] },
  }),
  'network-policy-egress': sample('/apis/networking.k8s.io/v1', 'networkpolicies', 'NetworkPolicy', {
    spec: { podSelector: selector, egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }] }] },
  }),
  ingress: sample('/apis/networking.k8s.io/v1', 'ingresses', 'Ingress', {
    spec: {
      rules: [
        {
          host: 'a.example.com',
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
          },
        },
      ],
    },
  }),
  'ingress-class': sample(
    '/apis/networking.k8s.io/v1',
    'ingressclasses',
    'IngressClass',
    { metadata: { name: '<namespace>' }, spec: { controller: 'example.com/a' } },
    { namespaced: false },
  ),
  'pod-disruption-budget': sample('/apis/policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget', {
    spec: { minAvailable: 1, selector },
  }),
  'horizontal-pod-autoscaler': sample('/apis/autoscaling/v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', {
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' },
      behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
    },
  }),
  role: sample(rbac, 'roles', 'Role', { rules }),
  'role-empty': sample(rbac, 'roles', 'Role', {}),
  'role-binding': sample(rbac, 'rolebindings', 'RoleBinding', {
    subjects: [
      { kind: 'User', name: 'u' },
      { kind: 'ServiceAccount', name: 's', namespace: 'n' },
    ],
    roleRef: { kind: 'Role', name: 'r', apiGroup: 'rbac.authorization.k8s.io' },
  }),
  'cluster-role': sample(
    rbac,
    'clusterroles',
    'ClusterRole',
    { metadata: { name: '<namespace>' }, rules },
    { namespaced: false },
  ),
  'cluster-role-binding': sample(
    rbac,
    'clusterrolebindings',
    'ClusterRoleBinding',
    { metadata: { name: '<namespace>' }, roleRef: { kind: 'ClusterRole', name: 'r' } },
    { namespaced: false },
  ),
  lease: sample('/apis/coordination.k8s.io/v1', 'leases', 'Lease', {
    spec: { holderIdentity: 'x', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.123456Z' },
  }),
  'priority-class': sample(
    '/apis/scheduling.k8s.io/v1',
    'priorityclasses',
    'PriorityClass',
    { metadata: { name: '<namespace>' }, value: 10 },
    { namespaced: false },
  ),
  'storage-class': sample(
    '/apis/storage.k8s.io/v1',
    'storageclasses',
    'StorageClass',
    { metadata: { name: '<namespace>' }, provisioner: 'example.com/p' },
    { namespaced: false },
  ),
  'validating-webhook-configuration': sample(
    registration,
    'validatingwebhookconfigurations',
    'ValidatingWebhookConfiguration',
    { metadata: { name: '<namespace>' }, webhooks: [{ ...webhook, failurePolicy: 'Ignore' }] },
    { namespaced: false },
  ),
  'mutating-webhook-configuration': sample(
    registration,
    'mutatingwebhookconfigurations',
    'MutatingWebhookConfiguration',
    { metadata: { name: '<namespace>' }, webhooks: [{ ...webhook, failurePolicy: 'Ignore' }] },
    { namespaced: false },
  ),
  'validating-admission-policy': sample(
    registration,
    'validatingadmissionpolicies',
    'ValidatingAdmissionPolicy',
    {
      metadata: { name: '<namespace>' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
        validations: [{ expression: 'true' }],
      },
    },
    { namespaced: false },
  ),
  'validating-admission-policy-binding': sample(
    registration,
    'validatingadmissionpolicybindings',
    'ValidatingAdmissionPolicyBinding',
    {
      metadata: { name: '<namespace>' },
      spec: { policyName: 'x', validationActions: ['Warn'], matchResources: {} },
    },
    { namespaced: false },
  ),
  'resource-quota': sample(core, 'resourcequotas', 'ResourceQuota', {
    spec: {
      hard: { pods: '10', 'limits.cpu': '1500m' },
      scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['x'] }] },
    },
  }),
  'flow-schema': sample(
    '/apis/flowcontrol.apiserver.k8s.io/v1',
    'flowschemas',
    'FlowSchema',
    {
      metadata: { name: '<namespace>' },
      spec: {
        priorityLevelConfiguration: { name: 'workload-low' },
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: 'nobody' } }],
            nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/sample'] }],
          },
        ],
      },
    },
    { namespaced: false },
  ),
  'custom-resource-definition': sample(
    '/apis/apiextensions.k8s.io/v1',
    'customresourcedefinitions',
    'CustomResourceDefinition',
    {
      metadata: { name: 'samples.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { kind: 'Sample', plural: 'samples' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    },
    { namespaced: false },
  ),
};
