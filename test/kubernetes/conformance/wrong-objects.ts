/** A merge patch that makes a sample wrong, as one would merge JSON (RFC 7386); lists are replaced. */
export interface WrongObject {
  /** Which sample. */
  readonly from: string;
  readonly patch: object;
}

const container = { name: 'main', image: 'a' };
/** A patch of a sample's spec. */
export const spec = (content: object) => ({ spec: content });
const oneContainer = (change: object) => spec({ containers: [{ ...container, ...change }] });
const template = (podSpec: object) => spec({ template: { spec: podSpec } });

/** Samples made wrong on create: what an operator's author gets wrong. */
export const wrongObjects: Readonly<Record<string, WrongObject>> = {
  'a name in upper case': { from: 'config-map', patch: { metadata: { name: 'Sample' } } },
  'a name that is too long': { from: 'config-map', patch: { metadata: { name: 'a'.repeat(254) } } },
  'no name': { from: 'config-map', patch: { metadata: { name: null } } },
  'a bad label': { from: 'config-map', patch: { metadata: { labels: { 'a/b/c': 'x', ok: '-bad-' } } } },
  'a bad annotation': { from: 'config-map', patch: { metadata: { annotations: { 'a b': 'x' } } } },
  'a bad finalizer': { from: 'config-map', patch: { metadata: { finalizers: ['a b'] } } },
  'two controllers': {
    from: 'config-map',
    patch: {
      metadata: {
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'u', controller: true },
          { apiVersion: 'v1', kind: 'Pod', name: 'b', uid: 'v', controller: true },
        ],
      },
    },
  },
  'an owner without a uid': {
    from: 'config-map',
    patch: { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: '' }] } },
  },
  'a config key with a slash': { from: 'config-map', patch: { data: { 'a/b': 'x' } } },
  'a key twice': { from: 'config-map', patch: { binaryData: { a: 'ZA==' } } },
  'data that is no text': { from: 'config-map', patch: { data: { a: 1 } } },
  'a secret that is no base64': { from: 'secret', patch: { data: { a: '?' } } },
  'a TLS secret without key': { from: 'secret-tls', patch: { data: { 'tls.key': null } } },
  'a pull secret that is no JSON': {
    from: 'secret',
    patch: { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'e30' } },
  },
  'a namespace with a dot': { from: 'namespace', patch: { metadata: { name: 'a.b' } } },
  'no containers': { from: 'pod', patch: spec({ containers: [] }) },
  'a container without image and name': { from: 'pod', patch: spec({ containers: [{ name: '' }] }) },
  'a container name in upper case': { from: 'pod', patch: oneContainer({ name: 'Main' }) },
  'two containers of one name': { from: 'pod', patch: spec({ containers: [container, container] }) },
  'an init container of the same name': { from: 'pod', patch: spec({ initContainers: [container] }) },
  'an init container with a probe': {
    from: 'pod',
    patch: spec({ initContainers: [{ ...container, name: 'a', livenessProbe: { httpGet: { port: 1 } } }] }),
  },
  'bad ports': {
    from: 'pod',
    patch: oneContainer({
      ports: [
        { containerPort: 0 },
        { containerPort: 70000 },
        { containerPort: 1, name: 'a-name-that-is-too-long' },
        { containerPort: 2, name: '12' },
        { containerPort: 3, name: 'x' },
        { containerPort: 4, name: 'x', protocol: 'HTTP' },
      ],
    }),
  },
  'a host port twice': {
    from: 'pod',
    patch: oneContainer({
      ports: [
        { containerPort: 1, hostPort: 1 },
        { containerPort: 2, hostPort: 1 },
      ],
    }),
  },
  'another host port with the host network': {
    from: 'pod',
    patch: spec({ hostNetwork: true, containers: [{ ...container, ports: [{ containerPort: 1, hostPort: 2 }] }] }),
  },
  'bad environment': {
    from: 'pod',
    patch: oneContainer({
      env: [
        { name: '' },
        { name: 'a=b' },
        { name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'B', valueFrom: {} },
        { name: 'C', valueFrom: { secretKeyRef: { name: '', key: 'a/b' } } },
      ],
    }),
  },
  'bad envFrom': { from: 'pod', patch: oneContainer({ envFrom: [{}, { secretRef: { name: 'A' } }] }) },
  'a mount of no volume': {
    from: 'pod',
    patch: oneContainer({
      volumeMounts: [
        { name: 'x', mountPath: '/x' },
        { name: 'y', mountPath: '/x' },
      ],
    }),
  },
  'bad volumes': {
    from: 'pod',
    patch: spec({
      volumes: [
        { name: 'A', emptyDir: {} },
        { name: 'b', emptyDir: {}, hostPath: { path: '/x' } },
        { name: 'c', secret: {} },
        { name: 'd', configMap: { name: 'x', defaultMode: 4096, items: [{ key: 'a/b', path: '../x' }] } },
        { name: 'e', persistentVolumeClaim: { claimName: '' } },
        { name: 'f', hostPath: { path: '/a/../b', type: 'Thing' } },
        { name: 'g', emptyDir: {} },
        { name: 'g', emptyDir: {} },
      ],
    }),
  },
  'a probe with two handlers': {
    from: 'pod',
    patch: oneContainer({ livenessProbe: { httpGet: { port: 1 }, tcpSocket: { port: 1 }, successThreshold: 2 } }),
  },
  'a probe without handler': { from: 'pod', patch: oneContainer({ readinessProbe: { periodSeconds: -1 } }) },
  'a probe of a bad port': {
    from: 'pod',
    patch: oneContainer({ startupProbe: { httpGet: { port: 'a_b', scheme: 'ftp' } } }),
  },
  'resources above their limits': {
    from: 'pod',
    patch: oneContainer({ resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '2', memory: '2Gi' } } }),
  },
  'bad resources': {
    from: 'pod',
    patch: oneContainer({ resources: { limits: { cpu: '-1', gpu: '1', 'example.com/x': '500m' } } }),
  },
  'a bad quantity': { from: 'pod', patch: oneContainer({ resources: { limits: { cpu: '1x' } } }) },
  'a quantity that is none': { from: 'pod', patch: oneContainer({ resources: { limits: { cpu: 'much' } } }) },
  'a bad security context': {
    from: 'pod',
    patch: oneContainer({ securityContext: { runAsUser: -1, runAsGroup: 4294967296 } }),
  },
  'bad policies': {
    from: 'pod',
    patch: spec({
      restartPolicy: 'Sometimes',
      dnsPolicy: 'x',
      containers: [{ ...container, imagePullPolicy: 'x', terminationMessagePolicy: 'y' }],
    }),
  },
  'bad tolerations': {
    from: 'pod',
    patch: spec({
      tolerations: [
        { key: 'a b' },
        { operator: 'Equal' },
        { key: 'a', operator: 'Exists', value: 'x' },
        { key: 'a', effect: 'x', tolerationSeconds: 1 },
        { key: 'a', operator: 'Near' },
      ],
    }),
  },
  'bad affinity': {
    from: 'pod',
    patch: spec({
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, podAffinityTerm: { topologyKey: '' } }],
        },
      },
      topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'x' }],
    }),
  },
  'bad names in a pod': {
    from: 'pod',
    patch: spec({
      hostname: 'a.b',
      subdomain: 'A',
      nodeName: 'A',
      serviceAccountName: 'A',
      imagePullSecrets: [{ name: '' }],
    }),
  },
  'no selector': { from: 'deployment', patch: spec({ selector: null }) },
  'an empty selector': { from: 'deployment', patch: spec({ selector: { matchLabels: null } }) },
  'a selector that misses its template': {
    from: 'deployment',
    patch: spec({ selector: { matchLabels: { app: 'other' } } }),
  },
  'a bad selector': {
    from: 'deployment',
    patch: spec({
      selector: {
        matchExpressions: [
          { key: 'app', operator: 'In' },
          { key: 'a b', operator: 'Is', values: ['-'] },
        ],
      },
    }),
  },
  'negative replicas': { from: 'deployment', patch: spec({ replicas: -1, minReadySeconds: -1 }) },
  'replicas that are text': { from: 'deployment', patch: spec({ replicas: '3' }) },
  'replicas that are no integer': { from: 'deployment', patch: spec({ replicas: 1.5 }) },
  'a list that is none': { from: 'deployment', patch: template({ containers: {} }) },
  'an object that is none': { from: 'deployment', patch: spec({ template: 'x' }) },
  'a text that is none': { from: 'deployment', patch: template({ containers: [{ name: 'a', image: 1 }] }) },
  'a boolean that is none': { from: 'deployment', patch: spec({ paused: 'yes' }) },
  'a label that is no text': { from: 'deployment', patch: { metadata: { labels: { a: true } } } },
  'a command that is no list of texts': {
    from: 'deployment',
    patch: template({ containers: [{ ...container, command: ['a', 1] }] }),
  },
  'no surge and nothing unavailable': {
    from: 'deployment',
    patch: spec({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
  },
  'a bad surge': {
    from: 'deployment',
    patch: spec({ strategy: { rollingUpdate: { maxSurge: 'x', maxUnavailable: '101%' } } }),
  },
  'a rolling update of a Recreate': {
    from: 'deployment-recreate',
    patch: spec({ strategy: { rollingUpdate: { maxSurge: 1 } } }),
  },
  'an unknown strategy': { from: 'deployment', patch: spec({ strategy: { type: 'x' } }) },
  'a deadline below minReadySeconds': {
    from: 'deployment',
    patch: spec({ progressDeadlineSeconds: 5, minReadySeconds: 5 }),
  },
  'a Deployment that never restarts': { from: 'deployment', patch: template({ restartPolicy: 'Never' }) },
  'a bad template': { from: 'deployment', patch: template({ containers: [{ name: 'x' }] }) },
  'a StatefulSet with a bad policy': {
    from: 'stateful-set',
    patch: spec({ podManagementPolicy: 'x', updateStrategy: { type: 'x' }, serviceName: 'A' }),
  },
  'a StatefulSet with a bad claim': {
    from: 'stateful-set-claims',
    patch: spec({ volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['x'] } }] }),
  },
  'a StatefulSet that never restarts': { from: 'stateful-set', patch: template({ restartPolicy: 'OnFailure' }) },
  'a DaemonSet that misses its template': {
    from: 'daemon-set',
    patch: spec({ selector: { matchLabels: { app: 'x' } } }),
  },
  'a DaemonSet without a plan': {
    from: 'daemon-set',
    patch: spec({ updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } }),
  },
  'a DaemonSet with surge': { from: 'daemon-set', patch: spec({ updateStrategy: { rollingUpdate: { maxSurge: 1 } } }) },
  'a Job that always restarts': { from: 'job', patch: template({ restartPolicy: 'Always' }) },
  'a Job without restart policy': { from: 'job', patch: template({ restartPolicy: null }) },
  'a Job with negative numbers': {
    from: 'job',
    patch: spec({ parallelism: -1, completions: -1, backoffLimit: -1, ttlSecondsAfterFinished: -1 }),
  },
  'a Job with a selector': { from: 'job', patch: spec({ selector: { matchLabels: { a: 'b' } } }) },
  'a Job of an unknown mode': { from: 'job', patch: spec({ completionMode: 'x', podReplacementPolicy: 'y' }) },
  'a CronJob with too few fields': { from: 'cron-job', patch: spec({ schedule: '* * * *' }) },
  'a CronJob with a bad field': { from: 'cron-job', patch: spec({ schedule: '61 * * * *' }) },
  'a CronJob with a word': { from: 'cron-job', patch: spec({ schedule: 'x * * * *' }) },
  'a CronJob with an unknown descriptor': { from: 'cron-job', patch: spec({ schedule: '@often' }) },
  'a CronJob with a zone in its schedule': { from: 'cron-job', patch: spec({ schedule: 'TZ=UTC * * * * *' }) },
  'a CronJob with a bad policy': { from: 'cron-job', patch: spec({ concurrencyPolicy: 'x', timeZone: 'Nowhere/x' }) },
  'a CronJob with a long name': { from: 'cron-job', patch: { metadata: { name: 'a'.repeat(53) } } },
  'a Service without ports': { from: 'service', patch: spec({ ports: null }) },
  'a Service with bad ports': {
    from: 'service',
    patch: spec({ ports: [{ port: 0 }, { port: 80, name: 'a', targetPort: 'a_b' }, { port: 80, name: 'a' }] }),
  },
  'a Service with an unknown type': { from: 'service', patch: spec({ type: 'x', sessionAffinity: 'y' }) },
  'a Service with a node port': { from: 'service', patch: spec({ ports: [{ port: 80, nodePort: 30000 }] }) },
  'a Service with a bad address': { from: 'service', patch: spec({ clusterIP: 'x', externalIPs: ['y'] }) },
  'a headless NodePort': { from: 'service-headless', patch: spec({ type: 'NodePort' }) },
  'an ExternalName without name': { from: 'service-external', patch: spec({ externalName: '' }) },
  'a Service with source ranges': { from: 'service', patch: spec({ loadBalancerSourceRanges: ['x'] }) },
  'a Service that starts with a digit and ends in a dash': { from: 'service', patch: { metadata: { name: '1-' } } },
  'a claim without size': { from: 'persistent-volume-claim', patch: spec({ resources: null }) },
  'a claim of nothing': { from: 'persistent-volume-claim', patch: spec({ resources: { requests: { storage: '0' } } }) },
  'a claim with bad modes': {
    from: 'persistent-volume-claim',
    patch: spec({ accessModes: ['x'], volumeMode: 'y', storageClassName: 'A' }),
  },
  'a claim without modes': { from: 'persistent-volume-claim', patch: spec({ accessModes: null }) },
  'a volume without source': { from: 'persistent-volume', patch: spec({ hostPath: null }) },
  'a volume without capacity': {
    from: 'persistent-volume',
    patch: spec({ capacity: null, persistentVolumeReclaimPolicy: 'x' }),
  },
  'a local volume anywhere': { from: 'persistent-volume', patch: spec({ hostPath: null, local: { path: '/x' } }) },
  'a bad StorageClass': {
    from: 'storage-class',
    patch: { provisioner: '', reclaimPolicy: 'x', volumeBindingMode: 'y' },
  },
  'a bad budget': { from: 'pod-disruption-budget', patch: spec({ minAvailable: -1, maxUnavailable: '101%' }) },
  'a bad network policy': {
    from: 'network-policy',
    patch: spec({
      policyTypes: ['x'],
      ingress: [
        { ports: [{ port: 0, protocol: 'x' }, { port: 2, endPort: 1 }, { endPort: 1 }] },
        { from: [{}, { podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }, { ipBlock: { cidr: 'x' } }] },
        { from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/8'] } }] },
      ],
    }),
  },
  'an Ingress without backend': {
    from: 'ingress',
    patch: spec({ rules: [{ host: 'A', http: { paths: [{ path: 'x', pathType: 'Prefix', backend: {} }] } }] }),
  },
  'a role without verbs': { from: 'role', patch: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: [] }] } },
  'a role for URLs': { from: 'role', patch: { rules: [{ nonResourceURLs: ['/'], verbs: ['get'] }] } },
  'a binding to nothing': { from: 'role-binding', patch: { roleRef: { kind: 'x', name: '' } } },
  'a binding of strange subjects': {
    from: 'role-binding',
    patch: {
      subjects: [
        { kind: 'x', name: '' },
        { kind: 'User', name: 'u', apiGroup: 'y' },
      ],
    },
  },
  'a bad Lease': { from: 'lease', patch: spec({ leaseDurationSeconds: 0, leaseTransitions: -1 }) },
  'a Lease with a short time': { from: 'lease', patch: spec({ renewTime: '2026-01-01T00:00:00Z' }) },
  'a priority that is too high': { from: 'priority-class', patch: { value: 2000000000 } },
  'an autoscaler of nothing': {
    from: 'horizontal-pod-autoscaler',
    patch: spec({ minReplicas: 0, maxReplicas: -1, scaleTargetRef: { kind: '', name: '' } }),
  },
  'a bad slice': { from: 'endpoint-slice', patch: { addressType: 'x', endpoints: [{ addresses: [] }] } },
  'a slice with a wrong address': { from: 'endpoint-slice', patch: { endpoints: [{ addresses: ['x'] }] } },
  'an Event with a bad time': { from: 'event', patch: { firstTimestamp: 'yesterday' } },
  'a node with bad taints': {
    from: 'node',
    patch: spec({
      taints: [
        { key: 'a b', effect: 'x' },
        { key: 'a', effect: '' },
      ],
    }),
  },
  'a webhook that is reached nowhere': {
    from: 'validating-webhook-configuration',
    patch: { webhooks: [{ name: 'a', clientConfig: {}, sideEffects: 'Some', admissionReviewVersions: [] }] },
  },
  'a policy that says nothing': {
    from: 'validating-admission-policy',
    patch: spec({ validations: null, matchConstraints: null }),
  },
};
