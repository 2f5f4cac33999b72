import type { KubeObject } from '@openstack-operator/kube';
import { duplicate, forbidden, invalid, notSupported, required, struct } from '../field-error.ts';
import { parseCidr, parseIp } from '../ip.ts';
import { type JsonObject, numberOf, objectOf, objectsOf, textOf, textsOf } from '../json.ts';
import { validateLabels } from '../metadata.ts';
import { isDnsLabel, isDnsSubdomain, isPortNumber, isQualifiedName } from '../names.ts';
import { child, index } from '../path.ts';
import type { FieldError } from '../resource-type.ts';
import { specOf } from './cells.ts';
import { validatePort } from './pod-probes.ts';

const ipMessage = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const cidrMessage = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

function isHeadless(spec: JsonObject): boolean {
  return texts(spec.clusterIPs)[0] === 'None' || spec.clusterIP === 'None';
}

/** ValidateService. */
export function validateService(service: KubeObject): FieldError[] {
  const spec = specOf(service);
  const type = textOf(spec.type);
  // Addresses are looked at before all else, when they are allocated (pkg/registry/core/service/storage).
  const addresses = type === 'ExternalName' ? [] : validateClusterIps(spec);
  if (addresses.length > 0) return addresses;
  const headless = isHeadless(spec);
  const ports = objectsOf(spec.ports);
  const errors: FieldError[] = [];
  if (ports.length === 0 && !headless && type !== 'ExternalName') errors.push(required('spec.ports'));
  if (headless && (type === 'LoadBalancer' || type === 'NodePort')) {
    errors.push(invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  }
  if (type === 'ExternalName') errors.push(...validateExternalName(spec));
  errors.push(...validatePorts(ports, type));
  errors.push(...validateLabels(textsOf(spec.selector), 'spec.selector'));
  const affinities = ['ClientIP', 'None'];
  if (!affinities.includes(textOf(spec.sessionAffinity))) {
    errors.push(notSupported('spec.sessionAffinity', spec.sessionAffinity, affinities));
  }
  if (spec.sessionAffinity === 'ClientIP') errors.push(...validateTimeout(spec));
  for (const [position, ip] of texts(spec.externalIPs).entries()) {
    if (!parseIp(ip)) errors.push(invalid(index('spec.externalIPs', position), ip, ipMessage));
  }
  const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
  if (!types.includes(type)) errors.push(notSupported('spec.type', type, types));
  return [...errors, ...validateBalancing(spec, type), ...validateTraffic(spec, type)];
}

function validateExternalName(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const) {
    if (spec[field] !== undefined && !(Array.isArray(spec[field]) && spec[field].length === 0)) {
      errors.push(forbidden(`spec.${field}`, 'may not be set for ExternalName services'));
    }
  }
  const name = textOf(spec.externalName).replace(/\.$/, '');
  if (name === '') errors.push(required('spec.externalName'));
  else errors.push(...isDnsSubdomain(name).map((message) => invalid('spec.externalName', name, message)));
  return errors;
}

function validatePorts(ports: readonly JsonObject[], type: string): FieldError[] {
  const names = new Set<string>();
  const errors: FieldError[] = [];
  for (const [position, port] of ports.entries()) {
    const at = index('spec.ports', position);
    const name = textOf(port.name);
    if (ports.length > 1 && name === '') errors.push(required(child(at, 'name')));
    else if (name !== '') {
      errors.push(...isDnsLabel(name).map((message) => invalid(child(at, 'name'), name, message)));
      if (names.has(name)) errors.push(duplicate(child(at, 'name'), name));
      names.add(name);
    }
    const number = numberOf(port.port);
    errors.push(...isPortNumber(number).map((message) => invalid(child(at, 'port'), number, message)));
    const protocols = ['SCTP', 'TCP', 'UDP'];
    if (!protocols.includes(textOf(port.protocol))) {
      errors.push(notSupported(child(at, 'protocol'), port.protocol, protocols));
    }
    errors.push(...validatePort(port.targetPort, child(at, 'targetPort')));
    const application = textOf(port.appProtocol);
    if (application !== '') {
      const messages = isQualifiedName(application);
      errors.push(...messages.map((message) => invalid(child(at, 'appProtocol'), application, message)));
    }
  }
  if (type === 'ClusterIP') {
    for (const [position, port] of ports.entries()) {
      if (!port.nodePort) continue;
      const at = child(index('spec.ports', position), 'nodePort');
      errors.push(forbidden(at, "may not be used when `type` is 'ClusterIP'"));
    }
  }
  return [...errors, ...repeated(ports)];
}

function repeated(ports: readonly JsonObject[]): FieldError[] {
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const field of ['nodePort', 'port'] as const) {
    for (const [position, port] of ports.entries()) {
      if (!port[field]) continue;
      const text = `${field} ${textOf(port.protocol)} ${numberOf(port[field])}`;
      const at = index('spec.ports', position);
      if (seen.has(text)) {
        const value = portKey(port);
        errors.push(field === 'port' ? duplicate(at, value) : duplicate(child(at, field), port[field]));
      }
      seen.add(text);
    }
  }
  return errors;
}

/** A port as the API server prints it: its internal type has no JSON names. */
function portKey({ protocol, port }: JsonObject): unknown {
  return struct(
    ['Name', ''],
    ['Protocol', protocol],
    ['AppProtocol', null],
    ['Port', port],
    ['TargetPort', 0],
    ['NodePort', 0],
  );
}

function validateTimeout(spec: JsonObject): FieldError[] {
  const { timeoutSeconds } = objectOf(objectOf(spec.sessionAffinityConfig).clientIP);
  const valid = typeof timeoutSeconds === 'number' && timeoutSeconds > 0 && timeoutSeconds <= 86_400;
  const path = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds';
  return valid ? [] : [invalid(path, timeoutSeconds ?? 0, 'must be between 1 and 86400, inclusive')];
}

function validateClusterIps(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const ips = texts(spec.clusterIPs);
  const clusterIp = textOf(spec.clusterIP);
  if (clusterIp !== '') {
    if (ips.length === 0) errors.push(required('spec.clusterIPs'));
    else if (ips[0] !== clusterIp) errors.push(invalid('spec.clusterIPs', ips, 'first value must match `clusterIP`'));
  } else if (ips.length > 0) {
    errors.push(invalid('spec.clusterIPs', ips, 'must be empty when `clusterIP` is not specified'));
  }
  const families = texts(spec.ipFamilies);
  for (const [position, family] of families.entries()) {
    const at = index('spec.ipFamilies', position);
    if (!['IPv4', 'IPv6'].includes(family)) errors.push(notSupported(at, family, ['IPv4', 'IPv6']));
    if (families.indexOf(family) < position) errors.push(duplicate(at, family));
  }
  const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
  if (spec.ipFamilyPolicy !== undefined && !policies.includes(textOf(spec.ipFamilyPolicy))) {
    errors.push(notSupported('spec.ipFamilyPolicy', spec.ipFamilyPolicy, policies));
  }
  for (const [position, ip] of ips.entries()) {
    if (position === 0 && ip === 'None') {
      if (ips.length > 1) errors.push(invalid('spec.clusterIPs', ips, "'None' must be the first and only value"));
    } else if (!parseIp(ip)) errors.push(invalid(index('spec.clusterIPs', position), ip, ipMessage));
  }
  if (ips.length > 2) errors.push(invalid('spec.clusterIPs', ips, 'may only hold up to 2 values'));
  return errors;
}

function validateBalancing(spec: JsonObject, type: string): FieldError[] {
  const errors: FieldError[] = [];
  const only = "may only be used when `type` is 'LoadBalancer'";
  const ranges = texts(spec.loadBalancerSourceRanges);
  if (ranges.length > 0) {
    if (type !== 'LoadBalancer') errors.push(forbidden('spec.LoadBalancerSourceRanges', only));
    for (const [position, range] of ranges.entries()) {
      if (parseCidr(range.trim())) continue;
      errors.push(invalid(index('spec.LoadBalancerSourceRanges', position), range.trim(), cidrMessage));
    }
  }
  if (spec.allocateLoadBalancerNodePorts !== undefined && type !== 'LoadBalancer') {
    errors.push(forbidden('spec.allocateLoadBalancerNodePorts', only));
  }
  if (spec.loadBalancerClass !== undefined && type !== 'LoadBalancer') {
    errors.push(forbidden('spec.loadBalancerClass', only));
  }
  return errors;
}

function validateTraffic(spec: JsonObject, type: string): FieldError[] {
  const errors: FieldError[] = [];
  const supported = ['Cluster', 'Local'];
  const { externalTrafficPolicy: external, internalTrafficPolicy: internal } = spec;
  const outside =
    type === 'NodePort' || type === 'LoadBalancer' || (type === 'ClusterIP' && texts(spec.externalIPs).length > 0);
  if (external !== undefined && !outside) {
    errors.push(invalid('spec.externalTrafficPolicy', external, 'may only be set for externally-accessible services'));
  } else if (external !== undefined && !supported.includes(textOf(external))) {
    errors.push(notSupported('spec.externalTrafficPolicy', external, supported));
  }
  if (internal !== undefined && !supported.includes(textOf(internal))) {
    errors.push(notSupported('spec.internalTrafficPolicy', internal, supported));
  }
  return errors;
}

/** Addresses stay once they are given, unless the Service becomes or was an ExternalName. */
export function validateServiceUpdate(service: KubeObject, old: KubeObject): FieldError[] {
  const spec = specOf(service);
  const before = specOf(old);
  if (spec.type === 'ExternalName' || before.type === 'ExternalName') return [];
  if (isHeadless(spec) && isHeadless(before)) return [];
  const ips = texts(spec.clusterIPs);
  const oldIps = texts(before.clusterIPs);
  if (oldIps.length > 0 && ips.length === 0) {
    return [invalid('spec.clusterIPs[0]', null, 'primary clusterIP can not be unset')];
  }
  return oldIps.flatMap((ip, position) =>
    position < ips.length && ips[position] !== ip
      ? [invalid(index('spec.clusterIPs', position), ips, 'may not change once set')]
      : [],
  );
}
