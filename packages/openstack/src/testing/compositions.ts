import type { KubeObject, StoredObject } from '@openstack-operator/kube';
import { parse } from 'yaml';
import { rootNamed } from '../control-plane/root.ts';
import { type Composition, compose } from '../engine/compose/compose.ts';
import { cloudLabel, computeLabel, nodeGroupLabel } from '../engine/names/names.ts';
import type { DesiredObject } from '../engine/vocabulary/step.ts';
import { type KnownSurroundings, type ServiceResource, surroundingsOf } from '../engine/vocabulary/surroundings.ts';
import { services } from '../services/index.ts';

/** Reads a sample: `config/samples/<name>.yaml`. */
export type ReadSample = (name: string) => string;

/** The sample of each service: it is named as the field of a control plane. */
const sampleOf = new Map(
  services.map((service) => [
    service,
    (service.child?.field ?? service.name).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  ]),
);

/** Every sample that is a resource of ours. */
export const samples = [
  ...sampleOf.values(),
  'ceph-storage_rook',
  'cinder_lvm',
  'ovn-network_issuer',
  'swift_ceph',
  'controlplane_minimal',
  'controlplane_ha',
  'controlplane_production',
  'controlplane_ceph',
  'controlplane_telco',
  'controlplane_full',
];

/** A sample as the API server would hand it out. */
export function resource(text: string): ServiceResource & StoredObject {
  const parsed = parse(text) as KubeObject;
  const metadata = { ...parsed.metadata, uid: `uid-of-${parsed.metadata.name}`, generation: 1, resourceVersion: '1' };
  return { spec: {}, ...parsed, metadata } as unknown as ServiceResource & StoredObject;
}

/** A cluster with a Gateway, two claimed nodes, and all the other samples. */
export function surroundings(read: ReadSample, more: KnownSurroundings = {}) {
  const references = [...sampleOf].flatMap(([{ offers = {} }, name]) =>
    Object.keys(offers).map((field) => [field, { found: resource(read(name)) }]),
  );
  const labels = { [cloudLabel]: 'openstack.standalone', [nodeGroupLabel]: 'compute', [computeLabel]: 'true' };
  return {
    references: Object.fromEntries(references) as NonNullable<KnownSurroundings['references']>,
    served: new Set([
      'gateway.networking.k8s.io/HTTPRoute',
      'cert-manager.io/Certificate',
      ...['CephBlockPool', 'CephFilesystem', 'CephClient'].map((kind) => `ceph.rook.io/${kind}`),
    ]),
    gateways: {
      'openstack/openstack-gateway': { listeners: [{ name: 'https', protocol: 'HTTPS', port: 443 }] },
      'edge-system/edge': { listeners: [{ name: 'https', protocol: 'HTTPS', port: 443 }] },
    },
    nodes: ['node-1', 'node-2'].map((name, index) => ({
      name,
      internalIp: `10.0.0.${index + 1}`,
      labels,
      joined: true,
    })),
    ...more,
  };
}

/** What a resource is composed to. */
export function composed(resource: ServiceResource, known: KnownSurroundings): Composition {
  const world = surroundingsOf(known);
  const service = services.find(({ kind }) => kind.kind === resource.kind);
  if (service !== undefined) return compose(service, resource, world);
  const root = rootNamed(resource);
  if (root === undefined) throw new Error(`${resource.kind}: neither a service nor the root of a cloud`);
  return root.compose(resource, world);
}

/** All objects of a composition, claims left out. */
export function objectsOf({ steps }: Composition): DesiredObject[] {
  return steps.flatMap(({ objects }) => objects.filter((desired) => desired.verb !== 'claim'));
}
