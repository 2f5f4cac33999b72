import type { KubeObject } from '@openstack-operator/kube';
import { type JsonObject, numberOf, objectOf, objectsOf, textOf } from '../json.ts';
import { formatSelector, type LabelSelector } from '../metadata.ts';
import { labelName } from '../names.ts';
import { builtinType } from './builtin-type.ts';
import { ageOf, formatLabels, nameOf, specOf, statusOf } from './cells.ts';
import {
  validateEndpointSlice,
  validateEndpointSliceUpdate,
  validateIngress,
  validateNetworkPolicy,
} from './network-validation.ts';
import { validateService, validateServiceUpdate } from './service-validation.ts';

function externalIps(service: KubeObject): string {
  const spec = specOf(service);
  const own = Array.isArray(spec.externalIPs) ? spec.externalIPs.map(textOf) : [];
  if (spec.type === 'ExternalName') return textOf(spec.externalName);
  if (spec.type !== 'LoadBalancer') return own.length > 0 ? own.join(',') : '<none>';
  const addresses = [...loadBalancerAddresses(service), ...own];
  return addresses.length > 0 ? addresses.join(',') : '<pending>';
}

function loadBalancerAddresses(object: KubeObject): string[] {
  const ingress = objectsOf(objectOf(statusOf(object).loadBalancer).ingress);
  return [
    ...new Set(ingress.map(({ ip, hostname }) => textOf(ip) || textOf(hostname)).filter((text) => text !== '')),
  ].sort();
}

function formatPorts(ports: unknown): string {
  const texts = objectsOf(ports).map(({ port, nodePort, protocol }) =>
    numberOf(nodePort) > 0
      ? `${numberOf(port)}:${numberOf(nodePort)}/${textOf(protocol)}`
      : `${numberOf(port)}/${textOf(protocol)}`,
  );
  return texts.length > 0 ? texts.join(',') : '<none>';
}

/**
 * `v1/Service`. Addresses and node ports are allocated by an admission plugin (see controllers/service-addresses.ts), which
 * knows all other Services.
 */
export const service = builtinType('v1/Service', {
  name: labelName,
  without: ['proxy'],
  selectableFields: ['spec.clusterIP', 'spec.type'],
  prepareForCreate(object) {
    object.status = { loadBalancer: {} };
    singleStack(specOf(object));
  },
  prepareForUpdate(object, old) {
    keepAllocated(object, old);
  },
  validate: validateService,
  validateUpdate: validateServiceUpdate,
  row: (object, now) => [
    nameOf(object),
    textOf(specOf(object).type),
    textOf((specOf(object).clusterIPs as string[] | undefined)?.[0]) || '<none>',
    externalIps(object),
    formatPorts(specOf(object).ports),
    ageOf(object, now),
    formatLabels(specOf(object).selector),
  ],
});

/** A cluster with IPv4 alone: what clients leave open is settled so. */
function singleStack(spec: JsonObject): void {
  if (spec.type === 'ExternalName') return;
  if (spec.clusterIP && !spec.clusterIPs) spec.clusterIPs = [spec.clusterIP];
  spec.ipFamilies ??= ['IPv4'];
  spec.ipFamilyPolicy ??= 'SingleStack';
}

/** What a client leaves out of a change stays as it was allocated (patchAllocatedValues of the Service strategy). */
function keepAllocated(service: KubeObject, old: KubeObject): void {
  const spec = specOf(service);
  const before = specOf(old);
  if (spec.type !== 'ExternalName' && before.type !== 'ExternalName') {
    if (!spec.clusterIP && !(Array.isArray(spec.clusterIPs) && spec.clusterIPs.length > 0)) {
      if (before.clusterIP) spec.clusterIP = before.clusterIP;
      if (before.clusterIPs) spec.clusterIPs = structuredClone(before.clusterIPs);
    }
    for (const field of ['ipFamilies', 'ipFamilyPolicy'] as const) {
      if (spec[field] === undefined && before[field] !== undefined) spec[field] = structuredClone(before[field]);
    }
    singleStack(spec);
  }
  const nodePorts = ['NodePort', 'LoadBalancer'];
  if (!nodePorts.includes(textOf(spec.type)) || !nodePorts.includes(textOf(before.type))) return;
  for (const port of objectsOf(spec.ports)) {
    const same = objectsOf(before.ports).find((o) => o.port === port.port && o.protocol === port.protocol);
    if (!port.nodePort && same?.nodePort) port.nodePort = same.nodePort;
  }
}

/** `v1/Endpoints`. */
export const endpoints = builtinType('v1/Endpoints', {
  row(object, now) {
    const all = objectsOf(object.subsets).flatMap(({ ports, addresses }) => {
      const ips = objectsOf(addresses).map(({ ip }) => textOf(ip));
      const numbers = objectsOf(ports).map(({ port }) => numberOf(port));
      return numbers.length === 0 ? ips : numbers.flatMap((port) => ips.map((ip) => hostPort(ip, port)));
    });
    return [nameOf(object), shorten(all), ageOf(object, now)];
  },
});

function hostPort(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

/** The first three, and how many more there are. */
function shorten(texts: readonly string[], none = '<none>'): string {
  if (texts.length === 0) return none;
  const shown = texts.slice(0, 3).join(',');
  return texts.length > 3 ? `${shown} + ${texts.length - 3} more...` : shown;
}

/** `discovery.k8s.io/v1/EndpointSlice`. */
export const endpointSlice = builtinType('discovery.k8s.io/v1/EndpointSlice', {
  hasGeneration: true,
  validate: validateEndpointSlice,
  validateUpdate: validateEndpointSliceUpdate,
  row(object, now) {
    const ports = objectsOf(object.ports).map(({ port }) => (typeof port === 'number' ? String(port) : '*'));
    const addresses = objectsOf(object.endpoints).flatMap(
      (endpoint) => (endpoint.addresses as string[] | undefined) ?? [],
    );
    return [
      nameOf(object),
      textOf(object.addressType),
      shorten(ports, '<unset>'),
      shorten(addresses, '<unset>'),
      ageOf(object, now),
    ];
  },
});

/** `networking.k8s.io/v1/NetworkPolicy`. */
export const networkPolicy = builtinType('networking.k8s.io/v1/NetworkPolicy', {
  hasGeneration: true,
  validate: validateNetworkPolicy,
  row: (object, now) => [
    nameOf(object),
    formatSelector(specOf(object).podSelector as LabelSelector | undefined),
    ageOf(object, now),
  ],
});

/** `networking.k8s.io/v1/Ingress`. */
export const ingress = builtinType('networking.k8s.io/v1/Ingress', {
  hasGeneration: true,
  prepareForCreate(object) {
    object.status = { loadBalancer: {} };
  },
  validate: validateIngress,
  row(object, now) {
    const spec = specOf(object);
    const hosts = objectsOf(spec.rules)
      .map(({ host }) => textOf(host))
      .filter((host) => host !== '');
    return [
      nameOf(object),
      textOf(spec.ingressClassName) || '<none>',
      shorten(hosts, '*'),
      loadBalancerAddresses(object).join(','),
      objectsOf(spec.tls).length > 0 ? '80, 443' : '80',
      ageOf(object, now),
    ];
  },
});

/** `networking.k8s.io/v1/IngressClass`. */
export const ingressClass = builtinType('networking.k8s.io/v1/IngressClass', {
  hasGeneration: true,
  row(object, now) {
    const { controller, parameters } = specOf(object);
    const { apiGroup, kind, name } = objectOf(parameters);
    const reference =
      parameters === undefined ? '<none>' : `${textOf(kind)}${apiGroup ? `.${textOf(apiGroup)}` : ''}/${textOf(name)}`;
    return [nameOf(object), textOf(controller), reference, ageOf(object, now)];
  },
});
