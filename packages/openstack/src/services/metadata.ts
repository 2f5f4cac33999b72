import type { StoredObject } from '@openstack-operator/kube';
import { serviceHost } from '../engine/names/names.ts';

/**
 * What agents on nodes and Nova's metadata service agree on. The Secret is Neutron's, which exists first; Nova is
 * known by name only, because it comes later.
 */

/** Name of the Secret that both share (key `password`). */
export function metadataSecret(neutron: StoredObject | undefined): string {
  const { metadataSecretName } = (neutron?.['spec'] ?? {}) as { metadataSecretName?: string };
  return metadataSecretName ?? `${neutron?.metadata.name}-metadata-secret`;
}

/** Host name of the metadata service of the Nova of that name. */
export function metadataHost(nova: string, namespace: string): string {
  return serviceHost(`${nova}-metadata`, namespace);
}

/** Port of the metadata service. */
export const metadataPort = 8775;
