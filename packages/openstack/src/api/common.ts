import { labelPattern, nameLength, subdomainPattern } from './names.ts';
import { atMost, notOfferedYet, onlyOffered } from './offering.ts';
import { objectName } from './references.ts';
import { componentOverrides, nodeSelector, resources } from './scheduling.ts';
import { anyValue, array, bool, choice, type Infer, int, map, object, required, string, transition } from './schema.ts';

const image = (what: string, otherwise: string) =>
  string(what, {
    maxLength: 512,
    pattern: '^[a-zA-Z0-9][-a-zA-Z0-9._:/]*(@sha256:[a-f0-9]{64})?$',
    otherwise,
  });

/** Where images come from, in place of the release's registry. */
export const imageRegistry = string(
  'Registry and path that take the place of quay.io/openstack.kolla in every built-in image.',
  {
    maxLength: 253,
    pattern: '^[a-z0-9][-a-z0-9._:/]*[a-z0-9]$',
    otherwise: 'quay.io/openstack.kolla',
  },
);

/** What the registries ask for. */
export const imagePullSecrets = array(
  'Secrets with credentials of the registries.',
  object('One Secret.', { name: required(objectName('Its name.')) }),
  { maxItems: 8, keys: ['name'] },
);

/** What outlives the resource. */
export const deletionPolicy = choice(
  'What happens to volumes and generated Secrets when this resource is deleted: Retain keeps them, and they are taken up when it is created again; Delete removes them with all data.',
  ['Retain', 'Delete'],
  { fallback: 'Retain' },
);

/**
 * What every kind that runs pods has.
 * - `main`: the component that `replicas`, `image` and `resources` are about.
 * - `components`: names that `spec.components` and `spec.images` accept, the workloads of the kind.
 * - `images`: further names that `spec.images` accepts: containers that are no component of their own.
 * - `single`: why there can only be one pod of the main component yet.
 */
export function template<const C extends string, const I extends string = never>(options: {
  main: string;
  components: readonly C[];
  images?: readonly I[];
  single?: string;
}) {
  const { main, components, images = [], single } = options;
  return {
    replicas: int(`How many pods of ${main} run; 0 stops them and keeps their data.`, {
      minimum: 0,
      maximum: 100,
      fallback: 1,
      rules: single === undefined ? [] : [atMost(1, 'replicas', single)],
    }),
    image: image(
      `Full reference of the image of ${main}, tag or digest. spec.images goes before it.`,
      'the image of the release',
    ),
    resources: resources(`Requests and limits of ${main}.`, 'those of the component'),
    nodeSelector: nodeSelector(
      'Node labels that all pods of this resource ask for, but for node agents, which run on claimed nodes.',
    ),
    components: map('Settings for single components, which go before those above.', componentOverrides, {
      keys: components,
    }),
    images: map(
      'Full references of single images, tag or digest. A change rolls the pods that use the image; node agents are replaced node by node.',
      image('Such as registry.example.com/openstack/nova-api@sha256:...', 'the image of the release'),
      { keys: [...components, ...images] },
    ),
    imageRegistry,
    imagePullSecrets,
    deletionPolicy,
  };
}

/** The OpenStack release, on kinds whose images follow it. */
export const release = string(
  'OpenStack release to run, such as 2025.1. A change upgrades: step by step, to the next release only, never back.',
  { maxLength: 16, pattern: '^20[0-9]{2}\\.[12]$', otherwise: "the operator's, or the control plane's" },
);

/** Where the region stands; the identity of everything that is registered in Keystone. */
export const region = string('Region that the service registers its endpoints in.', {
  maxLength: 64,
  pattern: '^[A-Za-z0-9][-A-Za-z0-9_.]*$',
  default: 'RegionOne',
  immutable: 'RegionOne',
});

/** A volume. It may grow where its StorageClass allows that; it never shrinks. */
export function storage(what: string, size: string) {
  return object(what, {
    size: transition(
      string('Requested size, such as 10Gi. It can be raised where the StorageClass allows expansion, never lowered.', {
        maxLength: 32,
        pattern: '^[0-9]+(\\.[0-9]+)?([KMGTPE]i|[kMGTPE])?$',
        fallback: size,
      }),
      {
        absent: JSON.stringify(size),
        allows: (next, previous) => `quantity(${next}).compareTo(quantity(${previous})) >= 0`,
        message: 'cannot be lowered: volumes never shrink',
      },
    ),
    storageClassName: transition(
      string('StorageClass of the volume.', {
        maxLength: 253,
        pattern: subdomainPattern,
        otherwise: "the cluster's default StorageClass",
      }),
      {
        absent: '""',
        allows: (next, previous) => `${next} == ${previous}`,
        message: 'cannot be changed after creation: a volume stays in its StorageClass',
      },
    ),
  });
}

const identifier = (what: string, name: string) =>
  string(what, { maxLength: 64, pattern: '^[A-Za-z0-9_][-A-Za-z0-9_]*$', fallback: name, immutable: name });

const secretName = (what: string, generated: string) => objectName(what + generated);

/** The databases of a service, by the names that they have unless told otherwise. */
export function database<const N extends string>(user: string, names: readonly N[]) {
  return object('Databases of the service. Their names matter when an existing cloud is adopted.', {
    user: identifier('Name of the database user.', user),
    names: object(
      'Names of the databases.',
      Object.fromEntries(names.map((name) => [name, identifier(`Name of the database ${name}.`, name)])) as {
        readonly [name in N]: ReturnType<typeof identifier>;
      },
    ),
    secretName: secretName('Secret with the password of the user (key password).', ' Absent: one is generated.'),
  });
}

/** The account at the message broker. */
export function messageQueue(user: string) {
  return object('Account at the message broker.', {
    user: identifier('Name of the broker user.', user),
    vhost: identifier('Virtual host that the service keeps its queues in.', user),
    secretName: secretName('Secret with the password of the user (key password).', ' Absent: one is generated.'),
  });
}

/** The account in Keystone and the entry in its catalogue. */
export function identity(name: string) {
  return object('Account of the service in Keystone, and its entry in the catalogue.', {
    userName: identifier('Name of the service user.', name),
    serviceName: identifier("Name of the service's entry in the catalogue.", name),
    secretName: secretName(
      'Secret with the password of the service user (key password).',
      ' Absent: one is generated.',
    ),
  });
}

/** The Gateway that public routes attach to. */
export const gatewayRef = object(
  'Gateway (gateway.networking.k8s.io) that public routes attach to.',
  {
    name: string('Name of the Gateway.', { maxLength: 253, pattern: subdomainPattern, fallback: 'openstack-gateway' }),
    namespace: string(
      'Namespace of the Gateway; its listener has to allow routes from the namespace of this resource.',
      {
        maxLength: 63,
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
        otherwise: 'the namespace of this resource',
      },
    ),
    listenerName: string('Listener of the Gateway to bind to.', {
      maxLength: 253,
      pattern: subdomainPattern,
      otherwise: 'every listener that admits the host name',
    }),
  },
  { otherwise: 'the Gateway openstack-gateway in the same namespace, where there is one' },
);

/** A public host name. */
export const hostname = (what: string, options: { otherwise?: string; default?: string }) =>
  string(what, { maxLength: 253, pattern: subdomainPattern, ...options });

/** How an API is reached from outside the cluster. */
export const exposure = choice(
  'How the API is reached from outside: Gateway makes an HTTPRoute, None keeps it inside the cluster. LoadBalancer, NodePort and Ingress are not offered yet.',
  ['Gateway', 'LoadBalancer', 'NodePort', 'Ingress', 'None'],
  {
    otherwise: 'Gateway where the cluster serves Gateway API and a Gateway is named or found, else None',
    rules: [onlyOffered('exposure', ['Gateway', 'None'])],
  },
);

/** What every service with a public API has; `name` is the first label of its default host name. */
export const api = (name: string) => ({
  exposure,
  publicHostname: hostname(
    'Host name of the API from outside. It stands in the public endpoint of the catalogue; a change patches the endpoint in place.',
    { otherwise: `${name}.<publicDomain> below a control plane; else the API has no public host name` },
  ),
  gatewayRef,
});

/** TLS of the endpoints. */
export const tls = object('TLS within the cluster. At the edge, the Gateway listener ends TLS, whatever stands here.', {
  enabled: bool('Whether endpoints inside the cluster speak TLS.', {
    fallback: false,
    rules: [notOfferedYet('tls.enabled', 'end TLS at the listener of the Gateway')],
  }),
  issuerRef: object('cert-manager issuer that signs the certificates; needed when TLS is enabled.', {
    name: required(objectName('Name of the issuer.')),
    kind: choice('Kind of the issuer.', ['Issuer', 'ClusterIssuer'], { fallback: 'Issuer' }),
  }),
});

/** A value of a configuration option: null takes the option away from the layers below. */
export type ConfigValue = string | number | boolean | null | readonly (string | number | boolean)[];

/** User configuration of a service: file, section, option, value. */
export function config(file: string) {
  return map(
    `Options that go before the operator's own: by name of the file (such as ${file}), then section, then option. Options that the operator owns, and options that the release does not know, are refused.`,
    map(
      'Sections of one file.',
      map(
        'Options of one section.',
        anyValue<ConfigValue>('A text, a number, true or false, a list of these, or null.'),
        {
          maxProperties: 256,
        },
      ),
      { maxProperties: 128 },
    ),
    { maxProperties: 32 },
  );
}

/** A Neutron physical network and the OVS bridge that carries it. */
export const bridgeMappings = (what: string) =>
  array(
    what,
    object('One physical network.', {
      physicalNetwork: required(
        string('Name of the physical network, as provider networks name it.', {
          maxLength: 64,
          pattern: '^[A-Za-z0-9][-A-Za-z0-9_.]*$',
        }),
      ),
      bridge: required(
        string('OVS bridge that carries it on the node, such as br-ex.', {
          maxLength: 15,
          pattern: '^[a-z][-a-z0-9_.]*$',
        }),
      ),
      interface: string(
        'Network interface of the node that is added to the bridge. Absent: the bridge stays without uplink.',
        {
          maxLength: 15,
          pattern: '^[A-Za-z0-9][-A-Za-z0-9_.@]*$',
        },
      ),
    }),
    { maxItems: 16, keys: ['physicalNetwork'] },
  );

/** The name of a cell or a node group, which becomes part of object names. */
export const partName = (what: string, options: { fallback?: string; immutable?: string } = {}) =>
  string(what, { minLength: 1, maxLength: nameLength.part, pattern: labelPattern, ...options });

export type GatewayRef = Infer<typeof gatewayRef>;
export type BridgeMapping = Infer<ReturnType<typeof bridgeMappings>>[number];
export type Storage = Infer<ReturnType<typeof storage>>;
export type Config = Infer<ReturnType<typeof config>>;
