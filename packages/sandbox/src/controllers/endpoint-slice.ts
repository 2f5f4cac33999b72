import { controllerReference, keyOf } from '@openstack-operator/kube';
import type { IEndpoint, IEndpointPort } from 'kubernetes-models/discovery.k8s.io/v1';
import type { IEndpointAddress, IEndpointSubset } from 'kubernetes-models/v1';
import type { Cluster } from '../cluster/cluster.ts';
import { EndpointSlice, Endpoints, Node, Pod, Service, type Stored } from '../cluster/kinds.ts';
import { isReady } from '../cluster/pod-state.ts';
import { deepEqual } from '../resources/json.ts';
import { type ControllerContext, type ControllerDefinition, ownerOf, wakeBy } from './controller.ts';
import type { OwnerIndex } from './owner-index.ts';

const SERVICE_NAME = 'kubernetes.io/service-name';
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const HEADLESS = 'service.kubernetes.io/headless';
const MOST_ENDPOINTS = 100;

/** Pods that share the numbers behind a Service's ports. */
interface Group {
  readonly ports: IEndpointPort[];
  readonly endpoints: IEndpoint[];
  readonly pods: Stored<Pod>[];
}

/** Keeps EndpointSlices, and the older Endpoints, equal to the pods that Services select. */
export function endpointSliceController(slices: OwnerIndex<EndpointSlice>): ControllerDefinition<Service> {
  return {
    name: 'endpoint-slice-controller',
    kind: Service,
    wakes: [
      ownerOf(EndpointSlice, Service),
      wakeBy(Endpoints, ({ key }) => [key]),
      wakeBy(Pod, ({ object, old }, cluster) => {
        const namespace = (object ?? old)?.metadata.namespace ?? '';
        const concerned = cluster
          .list(Service, namespace)
          .filter((service) => (object && selects(service, object)) || (old && selects(service, old)));
        return concerned.map(keyOf);
      }),
    ],
    reconcile(service, key, context) {
      if (service.metadata.deletionTimestamp || !service.spec.selector || service.spec.type === 'ExternalName') return;
      const pods = context.cluster
        .list(Pod, service.metadata.namespace ?? '')
        .filter((pod) => selects(service, pod) && hasAddress(pod) && hasNode(service, pod, context.cluster));
      const groups = groupsOf(service, pods);
      writeSlices(service, groups, slices.owned(service), context);
      writeEndpoints(service, key, groups, context);
    },
    // Endpoints have no owner reference: their controller removes them (endpoints_controller.go).
    forget(key, { cluster }) {
      const endpoints = cluster.get(Endpoints, key);
      if (endpoints) cluster.delete(Endpoints, endpoints);
    },
  };
}

function selects(service: Stored<Service>, { metadata }: Stored<Pod>): boolean {
  const { selector } = service.spec;
  return !!selector && Object.entries(selector).every(([name, value]) => metadata.labels?.[name] === value);
}

function hasAddress({ status }: Stored<Pod>): boolean {
  return !!status?.podIP && status.phase !== 'Succeeded' && status.phase !== 'Failed';
}

/** A pod whose node has gone is left out, unless the Service wants pods in any state. */
function hasNode({ spec }: Stored<Service>, pod: Stored<Pod>, cluster: Cluster): boolean {
  return spec.publishNotReadyAddresses === true || cluster.get(Node, pod.spec.nodeName ?? '') !== undefined;
}

function groupsOf(service: Stored<Service>, pods: readonly Stored<Pod>[]): Group[] {
  const groups = new Map<string, Group>();
  for (const pod of pods) {
    const ports = (service.spec.ports ?? []).flatMap(({ name, targetPort, port, protocol = 'TCP', appProtocol }) => {
      const number = portOf(pod, targetPort ?? port, protocol);
      return number === undefined
        ? []
        : [{ name: name ?? '', port: number, protocol, ...(appProtocol && { appProtocol }) }];
    });
    const key = JSON.stringify(ports);
    const group: Group = groups.get(key) ?? { ports, endpoints: [], pods: [] };
    groups.set(key, group);
    group.endpoints.push(endpointOf(service, pod));
    group.pods.push(pod);
  }
  return [...groups.values()];
}

function portOf(pod: Stored<Pod>, target: string | number, protocol: string): number | undefined {
  if (typeof target === 'number') return target;
  const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...pod.spec.containers, ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .find(({ name, protocol: own = 'TCP' }) => name === target && own === protocol)?.containerPort;
}

function endpointOf(service: Stored<Service>, pod: Stored<Pod>): IEndpoint {
  const { metadata, spec, status } = pod;
  const terminating = metadata.deletionTimestamp !== undefined;
  const serving = isReady(pod);
  const named = spec.hostname && spec.subdomain === service.metadata.name;
  return {
    addresses: [status?.podIP ?? ''],
    conditions: {
      ready: service.spec.publishNotReadyAddresses === true || (serving && !terminating),
      serving,
      terminating,
    },
    ...(named && { hostname: spec.hostname }),
    ...(spec.nodeName && { nodeName: spec.nodeName }),
    targetRef: { kind: 'Pod', name: metadata.name, namespace: metadata.namespace ?? '', uid: metadata.uid },
  };
}

function writeSlices(
  service: Stored<Service>,
  groups: readonly Group[],
  existing: readonly Stored<EndpointSlice>[],
  { cluster }: ControllerContext,
): void {
  const { namespace = '', name } = service.metadata;
  const labels = {
    ...service.metadata.labels,
    [SERVICE_NAME]: name,
    [MANAGED_BY]: 'endpointslice-controller.k8s.io',
    ...(service.spec.clusterIP === 'None' && { [HEADLESS]: '' }),
  };
  // A Service always has a slice, an empty one when it selects nobody.
  const parts = (groups.length > 0 ? groups : [{ ports: null, endpoints: [] }]).flatMap(({ ports, endpoints }) => {
    const chunks = Math.max(1, Math.ceil(endpoints.length / MOST_ENDPOINTS));
    return Array.from({ length: chunks }, (_, index) => ({
      ports,
      endpoints: endpoints.slice(index * MOST_ENDPOINTS, (index + 1) * MOST_ENDPOINTS),
    }));
  });
  const unused = [...existing];
  for (const { ports, endpoints } of parts) {
    const match = unused.findIndex((slice) => deepEqual(slice.ports ?? null, ports));
    const [slice] = unused.splice(match >= 0 ? match : 0, 1);
    const content = { endpoints: endpoints.length > 0 ? endpoints : null, ports } as Pick<
      EndpointSlice,
      'endpoints' | 'ports'
    >;
    if (!slice) {
      cluster.create(EndpointSlice, {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { generateName: `${name}-`, namespace, labels, ownerReferences: [controllerReference(service)] },
        addressType: 'IPv4',
        ...content,
      });
      continue;
    }
    const same =
      deepEqual(slice.endpoints ?? null, content.endpoints) &&
      deepEqual(slice.ports ?? null, ports) &&
      deepEqual(slice.metadata.labels, labels);
    if (same) continue;
    cluster.update(EndpointSlice, keyOf(slice), (draft) => {
      Object.assign(draft, content);
      draft.metadata.labels = labels;
    });
  }
  for (const slice of unused) cluster.delete(EndpointSlice, slice);
}

function writeEndpoints(
  service: Stored<Service>,
  key: string,
  groups: readonly Group[],
  { cluster }: ControllerContext,
): void {
  const labels = {
    ...service.metadata.labels,
    'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
    ...(service.spec.clusterIP === 'None' && { [HEADLESS]: '' }),
  };
  const subsets = groups.map(({ ports, endpoints }): IEndpointSubset => {
    const addressOf = ({ addresses: [ip = ''], hostname, nodeName, targetRef }: IEndpoint): IEndpointAddress => ({
      ip,
      ...(hostname && { hostname }),
      ...(nodeName && { nodeName }),
      ...(targetRef && { targetRef }),
    });
    const addresses = endpoints.filter(({ conditions }) => conditions?.ready).map(addressOf);
    const notReady = endpoints
      .filter(({ conditions }) => !conditions?.ready && !conditions?.terminating)
      .map(addressOf);
    return {
      ...(addresses.length > 0 && { addresses }),
      ...(notReady.length > 0 && { notReadyAddresses: notReady }),
      ports: ports.map(({ name, port = 0, protocol }) => ({
        ...(name && { name }),
        port,
        ...(protocol && { protocol }),
      })),
    };
  });
  const filled = subsets.filter(({ addresses, notReadyAddresses }) => addresses ?? notReadyAddresses);
  const live = cluster.get(Endpoints, key);
  if (!live) {
    const { namespace = '', name } = service.metadata;
    const metadata = { name, namespace, labels };
    cluster.create(Endpoints, {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata,
      ...(filled.length > 0 && { subsets: filled }),
    });
    return;
  }
  if (deepEqual(live.subsets ?? [], filled) && deepEqual(live.metadata.labels, labels)) return;
  cluster.update(Endpoints, key, (draft) => {
    draft.metadata.labels = labels;
    if (filled.length > 0) draft.subsets = filled;
    else delete draft.subsets;
  });
}
