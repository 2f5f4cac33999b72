import { readFileSync, writeFileSync } from 'node:fs';
import { kubectl } from './kubectl.ts';
import type { Place } from './place.ts';

/** A Gateway or an HTTPRoute, as far as names at addresses are concerned. */
export interface Resource {
  readonly kind: string;
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec: {
    readonly hostnames?: readonly string[];
    readonly parentRefs?: readonly { readonly namespace?: string; readonly name: string }[];
  };
  readonly status?: { readonly addresses?: readonly { readonly value: string }[] };
}

/** Lines of /etc/hosts: the names of HTTPRoutes at the addresses of their Gateways. A real cloud has them in its DNS. */
export function gatewayNames(resources: readonly Resource[]): string[] {
  const addressOf = (namespace: string, name: string) =>
    resources.find(
      ({ kind, metadata }) => kind === 'Gateway' && metadata.namespace === namespace && metadata.name === name,
    )?.status?.addresses?.[0]?.value;
  return resources.flatMap(({ kind, metadata, spec }) => {
    const [parent] = spec.parentRefs ?? [];
    if (kind !== 'HTTPRoute' || parent === undefined) return [];
    const address = addressOf(parent.namespace ?? metadata.namespace, parent.name);
    return address === undefined ? [] : (spec.hostnames ?? []).map((hostname) => `${address} ${hostname}`);
  });
}

/** The machine's /etc/hosts, and the names of the cluster's Gateways. A cluster that does not answer has none. */
export async function writeHosts(place: Place): Promise<void> {
  const names = await resources(place).then(gatewayNames, (error: Error) => {
    process.stderr.write(`the names of Gateways are not known in this shell:\n${error.message}\n`);
    return [];
  });
  // In a shell of the cloud the machine's file has them already.
  const lines = new Set([...readFileSync('/etc/hosts', 'utf8').trimEnd().split('\n'), ...names]);
  writeFileSync(place.hosts, [...lines, ''].join('\n'));
}

async function resources(place: Place): Promise<Resource[]> {
  const served = await kubectl(place, ['api-resources', '--api-group=gateway.networking.k8s.io', '-o', 'name']);
  if (served === '') return [];
  const printed = await kubectl(place, ['get', 'httproutes,gateways', '--all-namespaces', '-o', 'json']);
  return (JSON.parse(printed) as { items: Resource[] }).items;
}
