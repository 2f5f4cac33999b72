import { readFileSync } from 'node:fs';
import type { KubeObject } from '@openstack-operator/kube';
import { parse } from 'yaml';
import type { Cloud } from './cloud.ts';

/** A control plane of config/samples, by its name: minimal, ha, ... */
export const sample = (name: string) =>
  parse(
    readFileSync(new URL(`../../../config/samples/controlplane_${name}.yaml`, import.meta.url), 'utf8'),
  ) as KubeObject & { readonly spec: Readonly<Record<string, object>> };

/** The control plane with every service. */
export const fullSample = sample('full');

/** Brings the keyrings that this one and the one with Ceph name: the Secret `ceph-keyrings`. */
export async function bringKeyrings(cloud: Cloud): Promise<void> {
  const stringData = Object.fromEntries(
    ['cinder', 'cinder-backup', 'glance', 'manila', 'nova'].map((user, index) => [
      `ceph.client.${user}.keyring`,
      Buffer.alloc(28, index + 1).toString('base64'),
    ]),
  );
  const metadata = { name: 'ceph-keyrings', namespace: 'openstack' };
  await cloud.settle(cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata, stringData }));
}
