import { extraVolumes } from './extra-volumes.ts';
import { subdomain } from './names.ts';
import {
  array,
  type BroughtKind,
  bool,
  choice,
  type Form,
  type Infer,
  int,
  intOrString,
  map,
  nameOf,
  object,
  type Rule,
  required,
  string,
} from './schema.ts';

/** core/v1's own words, so that what people know from pods is written the same way here. */
const quantity: Form = {
  pattern:
    '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  expected: 'a quantity such as 500m, 2 or 4Gi: the units are k, M, G, T and Ki, Mi, Gi, Ti, without B',
};
/** What an API server says of a field, with words in place of the pattern that it did not match (crd.ts). */
export function withWords(detail: string): string {
  return detail.replace(`should match '${quantity.pattern}'`, `expected ${quantity.expected}`);
}

const labelKey = (what: string) => string(what, { maxLength: 317 });
const labelValue = (what: string) => string(what, { maxLength: 63 });
const quantities = (what: string) =>
  map(what, intOrString('Such as 500m, 2 or 4Gi.', { form: quantity }), { maxProperties: 16 });

/** `core/v1.ResourceRequirements`. */
export const resources = (what: string, otherwise: string, rules: readonly Rule[] = []) =>
  object(
    what,
    {
      requests: quantities('What the scheduler reserves for the container.'),
      limits: quantities('What the container may use at most.'),
    },
    { otherwise, rules },
  );

/** Node labels that pods ask for. */
export const nodeSelector = (what: string, rules: readonly Rule[] = []) =>
  map(what, labelValue('Value of the label.'), { maxProperties: 16, rules });

/** `core/v1.Toleration`s. */
export const tolerations = (what: string) =>
  array(
    what,
    object('One taint that is tolerated.', {
      key: labelKey('Key of the taint. If absent with operator Exists, every taint is tolerated.'),
      operator: choice('How key and value are compared.', ['Exists', 'Equal']),
      value: labelValue('Value of the taint.'),
      effect: choice('Effect that is tolerated. If absent, every effect is.', [
        'NoSchedule',
        'PreferNoSchedule',
        'NoExecute',
      ]),
      tolerationSeconds: int('How long a NoExecute taint is tolerated, in seconds.', {
        minimum: 0,
        maximum: 2 ** 31 - 1,
      }),
    }),
    { maxItems: 32 },
  );

const labelSelector = (what: string) =>
  object(what, {
    matchLabels: map('Labels with these values.', labelValue('Value of the label.'), { maxProperties: 16 }),
    matchExpressions: array(
      'Further requirements, all of which have to be met.',
      object('A condition on one label.', {
        key: required(labelKey('Key of the label.')),
        operator: required(choice('How it is compared.', ['In', 'NotIn', 'Exists', 'DoesNotExist'])),
        values: array('Values to compare with.', labelValue('A value.'), { maxItems: 32 }),
      }),
      { maxItems: 16 },
    ),
  });

const nodeRequirements = (what: string) =>
  array(
    what,
    object('A condition on a node.', {
      key: required(labelKey('Key of the label, or name of the field.')),
      operator: required(choice('How it is compared.', ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'])),
      values: array('Values to compare with.', labelValue('A value.'), { maxItems: 32 }),
    }),
    { maxItems: 16 },
  );

const nodeTerm = (what: string) =>
  object(what, {
    matchExpressions: nodeRequirements("Conditions on the node's labels."),
    matchFields: nodeRequirements("Conditions on the node's fields (metadata.name)."),
  });

const podTerm = (what: string) =>
  object(what, {
    labelSelector: labelSelector('Labels of the pods.'),
    topologyKey: required(
      labelKey('Node label whose value names the topology domain, such as kubernetes.io/hostname.'),
    ),
    namespaces: array(
      'Namespaces of these pods. If absent, the namespace of the resource.',
      labelValue('A namespace.'),
      {
        maxItems: 16,
      },
    ),
    namespaceSelector: labelSelector('Namespaces of these pods, by label.'),
  });

const weight = required(int('Its weight.', { minimum: 1, maximum: 100 }));
const terms = 16;

const podAffinity = (what: string) =>
  object(what, {
    requiredDuringSchedulingIgnoredDuringExecution: array('Requirements.', podTerm('Pods and a topology domain.'), {
      maxItems: terms,
    }),
    preferredDuringSchedulingIgnoredDuringExecution: array(
      'What is preferred.',
      object('One preference.', { weight, podAffinityTerm: required(podTerm('Pods and a topology domain.')) }),
      { maxItems: terms },
    ),
  });

const affinity = (what: string) =>
  object(what, {
    nodeAffinity: object('Nodes that its pods require or prefer.', {
      requiredDuringSchedulingIgnoredDuringExecution: object('Requirements.', {
        nodeSelectorTerms: required(
          array('One of these has to match.', nodeTerm('One node selector.'), { maxItems: terms }),
        ),
      }),
      preferredDuringSchedulingIgnoredDuringExecution: array(
        'What is preferred.',
        object('One preference.', { weight, preference: required(nodeTerm('One node selector.')) }),
        { maxItems: terms },
      ),
    }),
    podAffinity: podAffinity('Pods to be scheduled near to.'),
    podAntiAffinity: podAffinity('Pods to be scheduled away from.'),
  });

const topologySpreadConstraints = (what: string) =>
  array(
    what,
    object('One constraint.', {
      maxSkew: required(int('How far the numbers of pods in two domains may differ.', { minimum: 1, maximum: 100 })),
      topologyKey: required(labelKey('Node label whose value names the topology domain.')),
      whenUnsatisfiable: required(
        choice('What happens to a pod for which it cannot be met.', ['DoNotSchedule', 'ScheduleAnyway']),
      ),
      labelSelector: labelSelector('Which pods are counted. If absent, those of the component.'),
      minDomains: int('In how many domains pods have to be at least.', { minimum: 1, maximum: 1000 }),
      nodeAffinityPolicy: choice('Whether node affinity is respected.', ['Honor', 'Ignore']),
      nodeTaintsPolicy: choice('Whether taints are respected.', ['Honor', 'Ignore']),
    }),
    { maxItems: 8 },
  );

const keyOf = (kind: BroughtKind, what: string) =>
  object(what, {
    name: required(
      nameOf(kind, string(`Name of the ${kind} in the same namespace.`, { maxLength: 253, form: subdomain })),
    ),
    key: required(string('Key in its data.', { maxLength: 253 })),
    optional: bool('Whether it, or the key, may be missing. The variable is then not set.', { fallback: false }),
  });

const env = (what: string) =>
  array(
    what,
    object('One variable.', {
      name: required(
        string('Name of the variable.', {
          maxLength: 128,
          form: {
            pattern: '^[-._a-zA-Z][-._a-zA-Z0-9]*$',
            expected: "a name of letters, digits, '_', '-' and '.' that does not begin with a digit",
          },
        }),
      ),
      value: string('Its value. Never a secret: those come through valueFrom.', { maxLength: 1024 }),
      valueFrom: object('Where the value comes from.', {
        secretKeyRef: keyOf('Secret', 'A key of a Secret. Pods are replaced when the Secret changes.'),
        configMapKeyRef: keyOf('ConfigMap', 'A key of a ConfigMap. Pods are replaced when the ConfigMap changes.'),
      }),
    }),
    { maxItems: 32, keys: ['name'] },
  );

/** What may be set for the pods of one component; the shapes are core/v1's. */
export const componentOverrides = object('Settings for the pods of one component.', {
  replicas: int('How many pods run.', {
    minimum: 0,
    maximum: 100,
  }),
  processes: int(
    'Processes of an API under uwsgi, or workers that another program forks. Each has its own connections to the database; one of an API under uwsgi answers one request at a time in each of its threads.',
    { minimum: 1, maximum: 64, otherwise: "2, or the component's own" },
  ),
  threads: int('Threads of each process of an API under uwsgi.', {
    minimum: 1,
    maximum: 64,
    otherwise: "the API's own",
  }),
  resources: resources("Requests and limits of the component's main container.", "the component's own"),
  nodeSelector: nodeSelector('Node labels that its pods require, instead of those of spec.nodeSelector.'),
  tolerations: tolerations('Taints that its pods tolerate.'),
  affinity: affinity('Scheduling constraints of its pods.'),
  topologySpreadConstraints: topologySpreadConstraints('How its pods are spread over topology domains.'),
  priorityClassName: string('PriorityClass of its pods.', { maxLength: 253, form: subdomain }),
  env: env('Further environment variables of its main container.'),
  extraVolumes,
  annotations: map('Further annotations of its pods.', string('Value.', { maxLength: 4096 }), { maxProperties: 32 }),
});

export type Resources = Infer<ReturnType<typeof resources>>;
export type Tolerations = Infer<ReturnType<typeof tolerations>>;
export type ComponentOverrides = Infer<typeof componentOverrides>;
