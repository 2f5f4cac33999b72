import type { Data } from '../formats/data.ts';
import { defaultRelease, releases } from '../releases/index.ts';
import { subdomain } from './names.ts';
import { atMost, onlyOffered } from './offering.ts';
import { objectName } from './references.ts';
import { componentOverrides, nodeSelector, resources, tolerations } from './scheduling.ts';
import {
  anyValue,
  array,
  choice,
  type Field,
  type Infer,
  int,
  map,
  object,
  type Rule,
  required,
  rule,
  string,
} from './schema.ts';

/** A reference of a container image. */
export const image = (what: string, otherwise?: string, rules: readonly Rule[] = []) =>
  string(what, {
    maxLength: 512,
    form: {
      pattern:
        '^[a-zA-Z0-9][-a-zA-Z0-9._]*(:[0-9]+)?(/[a-zA-Z0-9][-a-zA-Z0-9._]*)*(:[a-zA-Z0-9_][-a-zA-Z0-9._]*)?(@sha256:[a-f0-9]{64})?$',
      expected: 'registry/name:tag or registry/name@sha256:..., without https://',
    },
    ...(otherwise === undefined ? {} : { otherwise }),
    rules,
  });

/** Where images come from, in place of the release's registry. */
export const imageRegistry = string(`Registry and path of the images, instead of ${defaultRelease.registry}.`, {
  maxLength: 253,
  // No scheme, and no slash at the end: the kubelet would refuse every image (InvalidImageName).
  form: {
    pattern: '^[a-z0-9][-a-z0-9._]*(:[0-9]+)?(/[a-z0-9][-a-z0-9._]*)*$',
    expected: "host and path such as registry.example.com/openstack, without https:// and without '/' at the end",
  },
  otherwise: defaultRelease.registry,
});

/** Which images of the registry: sites that build or mirror their own tag them as they like. */
export const imageTag = string(
  'Tag of the images, instead of that of the release. It has to be a tag of the same release.',
  {
    maxLength: 128,
    form: { pattern: '^[a-zA-Z0-9_][-a-zA-Z0-9._]*$', expected: "a tag of letters, digits, '_', '.' and '-'" },
    otherwise: `that of the release, such as ${defaultRelease.tag}`,
  },
);

/** What the registries ask for. */
export const imagePullSecrets = array(
  'Secrets with credentials of the registries.',
  object('One Secret.', { name: required(objectName('Its name.')) }),
  { maxItems: 8, keys: ['name'] },
);

/** When nodes ask the registries. */
export const imagePullPolicy = choice(
  'When nodes pull images, as in core/v1. A tag that moves, such as that of the release, may be a different build on each node. Pin images by digest (spec.images), or by a tag of your own (imageTag).',
  ['Always', 'IfNotPresent', 'Never'],
  { otherwise: "Kubernetes' own: IfNotPresent, but Always for the tag latest" },
);

/** Where agents on nodes call from. */
export const nodeNetworks = array(
  "Networks (CIDR) of the addresses that pods see of nodes. The broker, OVN's southbound database and Glance's internal API admit agents from these networks, and the cloud's own pods. If absent, they admit every address, because network plugins may show other addresses than Kubernetes does (those of tunnels), or may not match nodes by address at all (Cilium by default).",
  string('Such as 10.0.0.0/16 or fd00:1::/64.', {
    maxLength: 43,
    rules: [rule('isCIDR(self)', 'expected a network such as 10.0.0.0/16')],
  }),
  { minItems: 1, maxItems: 32, unique: true, otherwise: 'any address' },
);

/** Where pods may run, of the whole resource. */
export const podTolerations = tolerations(
  'Taints that all pods tolerate, including those of Jobs. Node agents tolerate all taints. Tolerations of a component override it.',
);

/** Which pods go first when there is not enough room for all. */
export const podPriority = string(
  'PriorityClass of all pods, including those of Jobs. Node agents have system-node-critical. That of a component overrides it.',
  { maxLength: 253, form: subdomain },
);

/** What outlives the resource. */
export const deletionPolicy = choice(
  'What happens to volumes and generated Secrets when this resource is deleted: Retain keeps them, so that a resource of the same name uses them again. Delete removes them with all data.',
  ['Retain', 'Delete'],
  { fallback: 'Retain' },
);

/**
 * What every kind that runs pods has.
 * - `main`: the component that `replicas`, `image` and `resources` are about.
 * - `components`: names that `spec.components` and `spec.images` accept, the workloads of the kind; the main one first.
 * - `images`: further names that `spec.images` accepts: containers that are no component of their own.
 * - `single`: the components of which there can be only one pod yet, and why.
 * - `quorum`: the components whose pods are members of a quorum.
 * - `nodeAgents`: the components that run on every claimed node, wherever that is.
 * - `counted`: the components of which another field says how many pods run, with that field.
 * - `wsgi`: the components under uwsgi, whose processes can be set; `threads`: those that are safe with several threads.
 * - `workers`: the components whose program forks workers, as many as `processes` says (`Component.workers`).
 */
export function template<const C extends string, const I extends string = never>(options: {
  main: string;
  components: readonly C[];
  images?: readonly I[];
  single?: { readonly components: readonly NoInfer<C>[]; readonly reason: string };
  quorum?: readonly NoInfer<C>[];
  nodeAgents?: readonly NoInfer<C>[];
  counted?: Readonly<Partial<Record<NoInfer<C>, string>>>;
  wsgi?: readonly NoInfer<C>[];
  workers?: readonly NoInfer<C>[];
  threads?: readonly NoInfer<C>[];
}) {
  const {
    main,
    components,
    images = [],
    single,
    quorum = [],
    nodeAgents,
    counted = {},
    wsgi = [],
    workers = [],
    threads = [],
  } = options;
  const without = (some: readonly C[]) => components.filter((name) => !some.includes(name));
  return {
    replicas: int(
      `How many pods of ${main} run. 0 stops them and keeps their data; the resource is then not Ready (Stopped).`,
      {
        minimum: 0,
        maximum: 100,
        fallback: 1,
        rules: [
          ...(single?.components.some((name) => name === components[0]) ? [atMost(1, 'replicas', single.reason)] : []),
          ...(quorum.some((name) => name === components[0])
            ? [rule(`self < 0 || self in ${sizesOfQuorum}`, quorumWords)]
            : []),
        ],
      },
    ),
    image: image(
      `Full reference of the image of ${main}, tag or digest. spec.images overrides it.`,
      'the image of the release',
    ),
    resources: resources(`Requests and limits of ${main}.`, 'those of the component'),
    nodeSelector: nodeSelector(
      'Node labels that all pods of this resource require, except node agents, which run on claimed nodes.',
    ),
    components: map('Settings of single components, which override those above.', componentOverrides, {
      keys: components,
      rules: [
        ...(single === undefined ? [] : [singleOnly(single.components, single.reason)]),
        ...(quorum.length === 0 ? [] : [quorumOnly(quorum)]),
        ...(nodeAgents === undefined ? [] : [onClaimedNodes(nodeAgents)]),
        ...Object.entries(counted).flatMap(([name, field]) =>
          notFor('replicas', [name], `state spec.${String(field)}`),
        ),
        ...notFor('processes', without([...wsgi, ...workers]), 'their number is fixed'),
        ...notFor('threads', without(threads), 'with several threads a process, requests fail or hang'),
      ],
    }),
    images: map(
      'Full references of single images, tag or digest. A change replaces the pods that use the image; node agents are replaced node by node.',
      image('Such as registry.example.com/openstack/nova-api@sha256:...', 'the image of the release'),
      { keys: [...components, ...images] },
    ),
    imageRegistry,
    imageTag,
    imagePullSecrets,
    imagePullPolicy,
    tolerations: podTolerations,
    priorityClassName: podPriority,
    deletionPolicy,
  };
}

/** CEL: what the map says of these components. */
function settingsOf(components: readonly string[]): string {
  return `${JSON.stringify(components)}.filter(key, key in self).map(key, self[key])`;
}

function singleOnly(components: readonly string[], reason: string) {
  return rule(
    `${settingsOf(components)}.all(one, !has(one.replicas) || one.replicas <= 1)`,
    `replicas of ${components.join(', ')} is at most 1 in this version of the operator: ${reason}`,
  );
}

/** How many members of a quorum may run, in CEL. */
export const sizesOfQuorum = '[0, 1, 3, 5, 7]';

const quorumWords = 'replicas is 0, 1, 3, 5 or 7: of an even number no more may fail than of one less';

function quorumOnly(components: readonly string[]) {
  return rule(
    `${settingsOf(components)}.all(one, !has(one.replicas) || one.replicas in ${sizesOfQuorum})`,
    `of ${components.join(', ')}: ${quorumWords}`,
  );
}

function notFor(field: 'processes' | 'threads' | 'replicas', components: readonly string[], reason: string) {
  if (components.length === 0) return [];
  return [
    rule(
      `${settingsOf(components)}.all(one, !has(one.${field}))`,
      `${field} cannot be set for ${components.join(', ')}: ${reason}`,
    ),
  ];
}

function onClaimedNodes(nodeAgents: readonly string[]) {
  return rule(
    `${settingsOf(nodeAgents)}.all(one, !has(one.replicas) && !has(one.nodeSelector) && !has(one.affinity) && !has(one.topologySpreadConstraints))`,
    `replicas, nodeSelector, affinity and topologySpreadConstraints cannot be set for components that run once on every claimed node: ${nodeAgents.join(', ')}`,
  );
}

/** The OpenStack release, on kinds whose images follow it. */
export const release = string(
  'OpenStack release to run, such as 2025.1. An upgrade from one to the next is not offered yet.',
  {
    maxLength: 16,
    otherwise: `that of the control plane, else ${defaultRelease.name}`,
    rules: [
      onlyOffered(
        'release',
        releases.map(({ name }) => name),
      ),
    ],
  },
);

/** Where the region stands; the identity of everything that is registered in Keystone. */
export const region = string('Region that the service registers its endpoints in.', {
  maxLength: 64,
  form: {
    pattern: '^[A-Za-z0-9][-A-Za-z0-9_.]*$',
    expected: "a name of letters, digits, '-', '_' and '.', such as RegionOne",
  },
  default: 'RegionOne',
  immutable: 'RegionOne',
});

/** A value of a configuration option: null takes the option away from the layers below. */
export type ConfigValue =
  | string
  | number
  | boolean
  | null
  | readonly (string | number | boolean)[]
  | { readonly secretKeyRef: { readonly name: string; readonly key: string } };

/** Sections of files, as users write them. */
function files(what: string, value: Field<ConfigValue, false>) {
  const section = map('Options of one section.', value, { maxProperties: 256 });
  return map(what, map('Sections of one file.', section, { maxProperties: 128 }), { maxProperties: 32 });
}

/** User configuration of a program that has no options of oslo.config: file, section, option, value. */
export function fileConfig(file: string) {
  return files(
    `Options that go before the operator's own: by name of the file (such as ${file}), then section, then option. Options that the operator owns are refused by the condition ConfigReady.`,
    anyValue<ConfigValue>('A text, a number, true or false, a list of these, or null.'),
  );
}

/** User configuration of an OpenStack service: file, section, option, value. */
export function config(file: string) {
  return files(
    `Options that go before the operator's own: by name of the file (such as ${file}) or of a component, then section, then option. They are compared with those that the release has: what it does not know, a value that it could not read, and a secret in plain text are refused by the condition ConfigReady, as are options that the operator owns.`,
    anyValue<ConfigValue>(
      'A text, a number, true or false, a list of these, null, which leaves the option unset, or secretKeyRef with name and key of a Secret of the namespace.',
      [{ kind: 'Secret', path: ['secretKeyRef', 'name'] }],
    ),
  );
}

/** What becomes of options that no facts know. */
export const unknownOptions = choice(
  'What becomes of options in config that the release does not have: Refuse, or Allow, which writes them all the same, for drivers that OpenStack does not ship. ConfigReady names those that are allowed.',
  ['Refuse', 'Allow'],
  { fallback: 'Refuse' },
);

/** Rules of policy that users state. */
export const policy = map(
  'Rules of policy that replace those of the release: name, check string.',
  string('Check string, such as role:admin.', { maxLength: 4096 }),
  { maxProperties: 512 },
);

/** User configuration of a service with files in other formats than oslo.config's: file, then what that format has. */
export function dataConfig(file: string) {
  return map(
    `What goes before the operator's own: by name of the file (such as ${file}). Maps merge, lists are replaced, null takes a key away; of an oslo.config file section, then option. What the operator owns is refused by the condition ConfigReady.`,
    anyValue<Data>('What the file is to say.'),
    { maxProperties: 32 },
  );
}

export type Config = Infer<ReturnType<typeof config>>;
