import { Node } from '@openstack-operator/kube';
import { children, cloudLabel, cloudOf, kinds, nodeGroupLabel } from '@openstack-operator/openstack';
import type { Pass } from './pass.ts';

/** What a control plane shows of its cloud: the public endpoints of its children, and the nodes that it has claimed. */
export function controlPlaneStatus(pass: Pass): Record<string, unknown> {
  const { name, namespace = '' } = pass.object.metadata;
  const endpoints = children.flatMap(({ kind, field, suffix }) => {
    const api = kinds.find((one) => one.kind === kind);
    const child = api && pass.cache.get(api, { namespace, name: `${name}-${suffix}` });
    const { endpoints: urls } = (child?.status ?? {}) as { endpoints?: { public?: string } };
    return urls?.public === undefined ? [] : [[field, urls.public] as const];
  });
  const nodes = (pass.cache.has(Node) ? pass.cache.list(Node) : [])
    .filter(({ metadata }) => metadata.labels?.[cloudLabel] === cloudOf(pass.object))
    .map(({ metadata }) => ({
      name: metadata.name,
      group: metadata.labels?.[nodeGroupLabel] ?? 'default',
      phase: 'Claimed',
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    ...(endpoints.length === 0 ? {} : { endpoints: Object.fromEntries(endpoints) }),
    ...(nodes.length === 0 ? {} : { nodes }),
  };
}
