import { type KubeObject, keyOf, type StoredObject } from '@openstack-operator/kube';
import {
  type Composition,
  compose,
  type Desired,
  type Generator,
  type KnownSurroundings,
  kindReferredBy,
  neededBy,
  type Peer,
  peerOf,
  type ReferenceField,
  type Resolved,
  rootNamed,
  rootOf,
  type Service,
  type ServiceResource,
  services,
  surroundingsOf,
} from '@openstack-operator/openstack';

/** One resource with what it leads to. */
export interface Rendered {
  readonly resource: ServiceResource;
  readonly composition: Composition;
}

/**
 * What resources lead to in the end, without a cluster: a control plane to its children, each of them to its objects.
 * `served`: optional APIs that the cluster is taken to have, as `group/Kind`. `assumed`: what a reference leads to is taken
 * to exist, where the file does not have it.
 */
export function renderAll(
  resources: readonly KubeObject[],
  served: ReadonlySet<string>,
  { assumed = false }: { readonly assumed?: boolean } = {},
): Rendered[] {
  const known = resources.map(stored);
  const rendered: Rendered[] = [];
  for (let i = 0; i < known.length; i++) {
    const resource = known[i];
    if (resource === undefined) continue;
    const root = rootNamed(resource);
    if (root === undefined) continue;
    const composition = root.compose(resource, surroundingsOf({ served }));
    rendered.push({ resource, composition });
    for (const child of objectsOf(composition)) known.push(withOwner(stored(child), resource));
  }
  // What proxies the APIs of others comes after them: it has their addresses.
  const composed = known.flatMap((resource) => {
    const service = services.find(({ kind }) => kind.kind === resource.kind);
    return service === undefined ? [] : [{ resource, service }];
  });
  const isProxy = ({ service }: { service: Service }) => service.proxies !== undefined;
  for (const { resource, service } of composed.sort((one, other) => Number(isProxy(one)) - Number(isProxy(other)))) {
    const peers = Object.entries(peersOf(service, resource, known));
    const surroundings = surroundingsOf({
      served,
      references: resolvedOf(service, resource, { known, assumed }),
      peers: Object.fromEntries(peers.map(([kind, { name }]) => [kind, name])),
      peerSpecs: Object.fromEntries(peers.map(([kind, { spec }]) => [kind, spec])),
      peerEndpoints: endpointsOf(peers, rendered),
      gateways: gatewaysFor(resource, served),
    });
    rendered.push({ resource, composition: compose(service, resource, surroundings) });
  }
  return rendered;
}

/** The objects of a composition as they would be written; generated values are shown as what they will be, never made. */
export function objectsOf(composition: Composition): KubeObject[] {
  return composition.steps.flatMap(({ objects }) => objects.flatMap(shown));
}

/**
 * What a composition claims of the cluster's nodes, as comments of YAML: `kubectl apply` passes over them, because the
 * labels are the operator's to put on.
 */
export function claimsOf(composition: Composition): string[] {
  return composition.steps
    .flatMap(({ objects }) => objects)
    .flatMap((desired) => {
      if (desired.verb !== 'claim') return [];
      const { labels, selector, count, tolerations = [] } = desired;
      const having = Object.entries(selector).map(([name, value]) => `${name}=${value}`);
      const lines = [
        `Claims ${count ?? 'all'} nodes that are Ready, schedulable, and of no other cloud, and labels them:`,
        ...Object.entries(labels).map(([name, value]) => `  ${name}: ${value}`),
        `their labels: ${having.length === 0 ? 'any' : having.join(', ')}`,
        `their taints: ${tolerations.length === 0 ? 'none with effect NoSchedule or NoExecute' : `none but what ${JSON.stringify(tolerations)} tolerates`}`,
      ];
      return [lines.map((line) => `# ${line}\n`).join('')];
    });
}

function shown(desired: Desired): KubeObject[] {
  switch (desired.verb) {
    case 'apply':
    case 'resolve':
      return [desired.object];
    case 'generate': {
      const values = Object.entries(desired.values).map(([key, generator]) => [key, placeholder(generator)]);
      return [{ ...desired.object, stringData: Object.fromEntries(values) }];
    }
    case 'claim':
      return [];
  }
}

function placeholder(generator: Generator): string {
  switch (generator.type) {
    case 'password':
      return `<generated: ${generator.length} characters>`;
    case 'fernetKey':
      return '<generated: a Fernet key>';
    case 'certificate':
      return `<generated: a certificate of ${generator.commonName}>`;
    case 'privateKey':
    case 'sshPrivateKey':
      return '<generated: a private key>';
    case 'sshPublicKey':
      return `<generated: the public key of ${generator.key}>`;
    case 'cephKey':
      return '<generated: a key of Ceph>';
    case 'rndcKey':
      return '<generated: a key of rndc>';
    case 'literal':
      return generator.value;
  }
}

function resolvedOf(
  service: Service,
  resource: KubeObject,
  { known, assumed }: { readonly known: readonly StoredObject[]; readonly assumed: boolean },
): NonNullable<KnownSurroundings['references']> {
  const resolve = (field: ReferenceField): Resolved => {
    const { kind, group, version } = kindReferredBy(field);
    const candidates = known.filter(
      (other) => other.kind === kind && other.metadata.namespace === resource.metadata.namespace,
    );
    const name = ((resource['spec'] ?? {}) as Record<string, { name?: string } | undefined>)[field]?.name;
    const found = name === undefined ? candidates[0] : candidates.find((candidate) => candidate.metadata.name === name);
    if (found !== undefined && (name !== undefined || candidates.length === 1)) return { found };
    if (found === undefined && assumed) {
      const { namespace = 'default' } = resource.metadata;
      const metadata = { name: name ?? kind.toLowerCase(), namespace };
      return { found: stored({ apiVersion: `${group}/${version}`, kind, metadata }) };
    }
    return {
      missing: `spec.${field} of ${resource.kind} ${keyOf(resource)}: the file has ${candidates.length} of kind ${kind}${name === undefined ? '' : `, none named ${name}`}`,
    };
  };
  return Object.fromEntries(neededBy(service, resource['spec'] as object).map((field) => [field, resolve(field)]));
}

/** Where the APIs of peers answer, by their kinds, as far as they were composed. */
function endpointsOf(
  peers: readonly (readonly [string, Peer])[],
  rendered: readonly Rendered[],
): Record<string, string> {
  return Object.fromEntries(
    peers.flatMap(([kind, { name }]) => {
      const of = rendered.find(({ resource }) => resource.kind === kind && resource.metadata.name === name);
      const endpoint = of?.composition.status['apiEndpoint'];
      return typeof endpoint === 'string' ? [[kind, endpoint] as const] : [];
    }),
  );
}

/** The peers of a resource that the file has, or that a control plane in it wants. */
function peersOf(service: Service, resource: KubeObject, known: readonly StoredObject[]): Record<string, Peer> {
  const { namespace } = resource.metadata;
  const owner = rootOf(resource);
  const root = known.find(({ metadata }) => metadata.uid === owner?.uid);
  return Object.fromEntries(
    (service.peers ?? []).flatMap(({ kind: { kind } }) => {
      const others = () => known.filter((one) => one.kind === kind && one.metadata.namespace === namespace);
      const peer = peerOf(resource, kind, { root, others });
      return peer === undefined ? [] : [[kind, peer] as const];
    }),
  );
}

/** With Gateway API, the Gateway that the resource asks for is taken to exist, with the listeners of the sample. */
function gatewaysFor(
  { metadata, spec }: ServiceResource,
  served: ReadonlySet<string>,
): NonNullable<KnownSurroundings['gateways']> {
  if (!served.has('gateway.networking.k8s.io/HTTPRoute')) return {};
  const {
    name = 'openstack-gateway',
    namespace = metadata.namespace ?? 'default',
    listenerName,
  } = spec?.gatewayRef ?? {};
  const listeners = [
    { name: 'https', protocol: 'HTTPS', port: 443 },
    { name: 'http', protocol: 'HTTP', port: 80 },
    ...(listenerName === undefined || ['https', 'http'].includes(listenerName)
      ? []
      : [{ name: listenerName, protocol: 'HTTPS', port: 443 }]),
  ];
  return { [`${namespace}/${name}`]: { listeners } };
}

function stored(object: KubeObject): StoredObject<ServiceResource> {
  const { name = '', namespace = 'default' } = object.metadata;
  return {
    ...object,
    metadata: { ...object.metadata, name, namespace, uid: `${object.kind}-${namespace}-${name}`, resourceVersion: '0' },
  };
}

function withOwner<T extends StoredObject>(object: T, owner: StoredObject): T {
  const { apiVersion, kind, metadata } = owner;
  const reference = { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true };
  return { ...object, metadata: { ...object.metadata, ownerReferences: [reference] } };
}
