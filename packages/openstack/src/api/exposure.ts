import { certificateDuration, issuerRef, longEnough } from './issuer.ts';
import { subdomain } from './names.ts';
import { onlyOffered } from './offering.ts';
import { array, bool, choice, type Infer, int, map, object, rule, string } from './schema.ts';

/** The Gateway that public routes attach to. */
export const gatewayRef = object(
  'Gateway (gateway.networking.k8s.io) that public routes attach to.',
  {
    name: string('Name of the Gateway.', { maxLength: 253, form: subdomain, fallback: 'openstack-gateway' }),
    namespace: string(
      'Namespace of the Gateway; its listener has to allow routes from the namespace of this resource.',
      {
        maxLength: 63,
        form: { pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', expected: "a name of a-z, 0-9 and '-'" },
        otherwise: 'the namespace of this resource',
      },
    ),
    listenerName: string('Listener of the Gateway to bind to.', {
      maxLength: 253,
      form: subdomain,
      otherwise: 'every listener that admits the host name',
    }),
  },
  { otherwise: 'the Gateway openstack-gateway in the same namespace, where there is one' },
);

/** A public host name. */
export const hostname = (what: string, options: { otherwise?: string; default?: string }) =>
  string(what, { maxLength: 253, form: subdomain, ...options });

/** How an API is reached from outside the cluster. */
export const exposure = choice(
  'How the API is reached from outside: Gateway makes a route of Gateway API, LoadBalancer and NodePort a Service (externalService), None keeps it inside the cluster. Ingress is not offered yet.',
  ['Gateway', 'LoadBalancer', 'NodePort', 'Ingress', 'None'],
  {
    otherwise: 'Gateway where the cluster serves Gateway API and a Gateway is named or found, else None',
    rules: [onlyOffered('exposure', ['Gateway', 'LoadBalancer', 'NodePort', 'None'])],
  },
);

/** The Service of an API that no Gateway exposes. */
const externalService = object(
  'The Service by which the API is reached from outside with exposure LoadBalancer or NodePort: <name>-<component>-external.',
  {
    ports: map(
      'Ports by component, of the load balancer or of the nodes (30000-32767, unless the cluster says otherwise).',
      int('A port.', { minimum: 1, maximum: 65_535 }),
      { maxProperties: 16 },
    ),
    scheme: choice('Scheme of the public URL: https if the load balancer terminates TLS.', ['http', 'https'], {
      fallback: 'http',
    }),
    annotations: map(
      'Annotations of the Service, such as those that its load balancer reads.',
      string('Value.', { maxLength: 4096 }),
      {
        maxProperties: 32,
      },
    ),
    loadBalancerClass: string('Class of the load balancer.', { maxLength: 253, otherwise: "the cluster's default" }),
    loadBalancerSourceRanges: array(
      'Networks (CIDR) of the clients that the load balancer admits.',
      string('Such as 203.0.113.0/24.', {
        maxLength: 43,
        rules: [rule('isCIDR(self)', 'expected a network such as 203.0.113.0/24')],
      }),
      { minItems: 1, maxItems: 32, unique: true, otherwise: 'any client' },
    ),
    externalTrafficPolicy: choice(
      'Whether nodes forward requests to pods of other nodes. With Local, pods see the addresses of clients.',
      ['Cluster', 'Local'],
      { otherwise: 'Cluster' },
    ),
  },
);

/** What every service with a public API has; `name` is the first label of its default host name. */
export const api = (name: string) => ({
  exposure,
  publicHostname: hostname(
    'Host name of the API from outside. It is part of the public endpoint in the catalogue, which follows a change.',
    { otherwise: `${name}.<publicDomain> below a control plane, otherwise none` },
  ),
  gatewayRef,
  externalService,
});

/** TLS inside the cluster. */
export const tls = object(
  'TLS inside the cluster. The Gateway listener terminates TLS at the edge, independently of this field.',
  {
    enabled: bool(
      'Whether services connect to the database, the broker, the databases of OVN and the APIs by TLS, with certificates of authorities of this cloud, or of an issuer. In a cloud in use, the APIs and their clients are first prepared for it, and no request is refused. A child whose template states tls is told that.',
      { fallback: false },
    ),
    issuerRef,
    duration: certificateDuration,
  },
  { rules: [longEnough] },
);

export type GatewayRef = Infer<typeof gatewayRef>;
