import type { KubeObject } from '@openstack-operator/kube';
import { forbidden, invalid, notSupported, required } from '../field-error.ts';
import { parseCidr, parseIp, samePrefix } from '../ip.ts';
import { isObject, type JsonObject, numberOf, objectOf, objectsOf, textOf } from '../json.ts';
import { type LabelSelector, validateImmutable, validateLabelSelector } from '../metadata.ts';
import { isDnsSubdomain, isPortName, isPortNumber } from '../names.ts';
import { child, index } from '../path.ts';
import type { FieldError } from '../resource-type.ts';
import { specOf } from './cells.ts';

const ipMessage = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const cidrMessage = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/** ValidateNetworkPolicy. */
export function validateNetworkPolicy(policy: KubeObject): FieldError[] {
  const spec = specOf(policy);
  const errors = validateLabelSelector(spec.podSelector as LabelSelector | undefined, 'spec.podSelector');
  for (const [direction, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const) {
    for (const [position, rule] of objectsOf(spec[direction]).entries()) {
      const at = index(`spec.${direction}`, position);
      for (const [i, port] of objectsOf(rule.ports).entries()) {
        errors.push(...validatePolicyPort(port, index(child(at, 'ports'), i)));
      }
      for (const [i, peer] of objectsOf(rule[peers]).entries()) {
        errors.push(...validatePeer(peer, index(child(at, peers), i)));
      }
    }
  }
  const types = Array.isArray(spec.policyTypes) ? spec.policyTypes : [];
  if (types.length > 2) {
    return [...errors, invalid('spec.policyTypes', types, 'may not specify more than two policyTypes')];
  }
  for (const [position, type] of types.entries()) {
    if (type === 'Ingress' || type === 'Egress') continue;
    errors.push(notSupported(index('spec.policyTypes', position), type, ['Ingress', 'Egress']));
  }
  return errors;
}

function validatePolicyPort(port: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const protocols = ['TCP', 'UDP', 'SCTP'];
  if (!protocols.includes(textOf(port.protocol))) {
    errors.push(notSupported(child(path, 'protocol'), port.protocol, protocols));
  }
  const { port: number, endPort } = port;
  const end = child(path, 'endPort');
  if (typeof number === 'number') {
    errors.push(...isPortNumber(number).map((message) => invalid(child(path, 'port'), number, message)));
    if (typeof endPort === 'number') {
      if (endPort < number) errors.push(invalid(end, number, 'must be greater than or equal to `port`'));
      errors.push(...isPortNumber(endPort).map((message) => invalid(end, endPort, message)));
    }
  } else if (typeof number === 'string') {
    if (endPort !== undefined) errors.push(invalid(end, endPort, 'may not be specified when `port` is non-numeric'));
    errors.push(...isPortName(number).map((message) => invalid(child(path, 'port'), number, message)));
  } else if (endPort !== undefined) {
    errors.push(invalid(end, endPort, 'may not be specified when `port` is not specified'));
  }
  return errors;
}

function validatePeer(peer: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const selectors = ['podSelector', 'namespaceSelector'].filter((name) => isObject(peer[name]));
  for (const name of selectors) errors.push(...validateLabelSelector(peer[name] as LabelSelector, child(path, name)));
  const block = peer.ipBlock;
  if (isObject(block)) errors.push(...validateBlock(block, child(path, 'ipBlock')));
  if (selectors.length === 0 && !isObject(block)) errors.push(required(path, 'must specify a peer'));
  else if (selectors.length > 0 && isObject(block)) {
    errors.push(forbidden(path, 'may not specify both ipBlock and another peer'));
  }
  return errors;
}

function validateBlock(block: JsonObject, path: string): FieldError[] {
  const text = textOf(block.cidr);
  if (text === '') return [required(child(path, 'cidr'))];
  const cidr = parseCidr(text);
  if (!cidr) return [invalid(child(path, 'cidr'), text, cidrMessage)];
  const excepted = Array.isArray(block.except) ? block.except.map(textOf) : [];
  return excepted.flatMap((text, position) => {
    const at = index(child(path, 'except'), position);
    const except = parseCidr(text);
    if (!except) return [invalid(at, text, cidrMessage)];
    const inside = samePrefix(cidr.ip, except.ip, cidr.prefix) && cidr.prefix < except.prefix;
    return inside ? [] : [invalid(at, text, 'must be a strict subset of `cidr`')];
  });
}

/** ValidateEndpointSlice, as far as the sandbox's own controllers and users make them. */
export function validateEndpointSlice(slice: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const types = ['FQDN', 'IPv4', 'IPv6'];
  const type = textOf(slice.addressType);
  if (type === '') errors.push(required('addressType'));
  else if (!types.includes(type)) errors.push(notSupported('addressType', type, types));
  for (const [position, endpoint] of objectsOf(slice.endpoints).entries()) {
    const at = child(index('endpoints', position), 'addresses');
    const addresses = Array.isArray(endpoint.addresses) ? endpoint.addresses.map(textOf) : [];
    if (addresses.length === 0) errors.push(required(at, 'must contain at least 1 address'));
    for (const [i, address] of addresses.entries()) {
      const ip = parseIp(address);
      if (!ip && type !== 'FQDN') errors.push(invalid(index(at, i), address, ipMessage));
      else if (type === 'IPv4' && ip?.length !== 4)
        errors.push(invalid(index(at, i), address, 'must be an IPv4 address'));
      if (type === 'IPv6' && ip?.length !== 16) errors.push(invalid(index(at, i), address, 'must be an IPv6 address'));
    }
  }
  const names = new Set<string>();
  for (const [position, port] of objectsOf(slice.ports).entries()) {
    const name = textOf(port.name);
    const at = index('ports', position);
    if (names.has(name)) errors.push({ type: 'Duplicate', field: at, value: name, detail: '' });
    names.add(name);
  }
  return errors;
}

/** What kind of addresses a slice holds never changes. */
export function validateEndpointSliceUpdate(slice: KubeObject, old: KubeObject): FieldError[] {
  return validateImmutable(slice.addressType, old.addressType, 'addressType');
}

/** ValidateIngress: rules with hosts, paths and backends. */
export function validateIngress(ingress: KubeObject): FieldError[] {
  const spec = specOf(ingress);
  const errors: FieldError[] = [];
  if (objectsOf(spec.rules).length === 0 && spec.defaultBackend === undefined) {
    errors.push(invalid('spec', [], 'either `defaultBackend` or `rules` must be specified'));
  }
  for (const [position, rule] of objectsOf(spec.rules).entries()) {
    const at = index('spec.rules', position);
    const host = textOf(rule.host);
    const checked = host.startsWith('*.') ? host.slice(2) : host;
    if (host !== '')
      errors.push(...isDnsSubdomain(checked).map((message) => invalid(child(at, 'host'), host, message)));
    for (const [i, route] of objectsOf(objectOf(rule.http).paths).entries()) {
      errors.push(...validateRoute(route, index(child(child(at, 'http'), 'paths'), i)));
    }
  }
  return errors;
}

function validateRoute(route: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const types = ['Exact', 'ImplementationSpecific', 'Prefix'];
  if (route.pathType === undefined) {
    errors.push(required(child(path, 'pathType'), 'pathType must be specified'));
  } else if (!types.includes(textOf(route.pathType))) {
    errors.push(notSupported(child(path, 'pathType'), route.pathType, ['Exact', 'Prefix', 'ImplementationSpecific']));
  } else if (route.pathType !== 'ImplementationSpecific' && !textOf(route.path).startsWith('/')) {
    errors.push(invalid(child(path, 'path'), textOf(route.path), 'must be an absolute path'));
  }
  const backend = objectOf(route.backend);
  const service = objectOf(backend.service);
  const at = child(path, 'backend');
  if (backend.service === undefined && backend.resource === undefined) {
    errors.push(invalid(at, '', 'resource or service backend is required'));
  } else if (backend.service !== undefined) {
    if (!service.name) errors.push(required(child(at, 'service.name')));
    const { number, name } = objectOf(service.port);
    if (!number && !name) errors.push(required(child(at, 'service.port'), 'port name or number is required'));
    else if (number) {
      const messages = isPortNumber(numberOf(number));
      errors.push(...messages.map((message) => invalid(child(at, 'service.port.number'), number, message)));
    }
  }
  return errors;
}
