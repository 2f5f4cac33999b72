import { type CloudResource, idOf, type ResourceApi } from '../../engine/vocabulary/cloud-resources.ts';
import { backendsOf, backendTypes } from '../backends.ts';
import { words } from './configuration.ts';
import type { Backend, Cinder, VolumeType } from './kind.ts';

/** How Cinder keeps types of volumes, and their quality of service. */
export const volumeTypeApi: Readonly<Record<string, ResourceApi>> = {
  'QoS specs': { path: '/qos-specs', item: 'qos_specs', items: 'qos_specs', change: 'PUT', spread: 'specs' },
  'volume type': {
    path: '/types',
    // Without the filter it lists public ones only.
    list: '/types?is_public=None',
    item: 'volume_type',
    change: 'PUT',
    madeAs: { is_public: 'os-volume-type-access:is_public' },
    // Nobody makes a volume of it before its encryption is written.
    meanwhile: { is_public: false },
    writes: {
      encryption: { method: 'POST', path: '/types/{id}/encryption', shown: '/types/{id}/encryption', later: true },
      extra_specs: { method: 'POST', path: '/types/{id}/extra_specs' },
      qos_specs_id: { method: 'GET', path: '/qos-specs/{value}/associate?vol_type_id={id}', later: true },
    },
  },
};

/** Types with encryption whose keys Barbican keeps: all that have any, unless the options name another key manager. */
export function encryptedTypes({ volumeTypes = [], config }: Partial<Cinder['spec']>): readonly VolumeType[] {
  if (config?.['cinder.conf']?.['key_manager']?.['backend'] !== undefined) return [];
  return volumeTypes.filter(({ encryption }) => encryption !== undefined);
}

/** Where volumes of a type may lie, of the backends of a spec; without a type those of the default one. None of a type that no spec states. */
export function backendsFor(spec: Partial<Cinder['spec']>, type?: string): readonly Backend[] {
  const all = backendsOf(spec);
  const wanted = type ?? spec.defaultVolumeType ?? spec.defaultBackend ?? all[0]?.name;
  const stated = spec.volumeTypes?.find(({ name }) => name === wanted);
  if (stated !== undefined && stated.backend === undefined) return all;
  return all.filter(({ name }) => name === (stated?.backend ?? wanted));
}

/** The type of each backend, and those that are stated. */
export function volumeTypes(spec: Partial<Cinder['spec']>): CloudResource[] {
  const ofBackends = backendTypes(words, backendsOf(spec), { in: 'cinderRef', kind: 'volume type' });
  return [...ofBackends, ...(spec.volumeTypes ?? []).flatMap(stated)];
}

function stated({
  name,
  description,
  backend,
  isPublic = true,
  extraSpecs = {},
  qos,
  encryption,
}: VolumeType): CloudResource[] {
  const extra_specs = { ...extraSpecs, ...(backend === undefined ? {} : { volume_backend_name: backend }) };
  const more = {
    ...(description === undefined ? {} : { description }),
    is_public: isPublic,
    extra_specs,
    ...encrypted(encryption),
  };
  if (qos === undefined) return [type(name, more)];
  const { consumer = 'back-end', specs } = qos;
  return [
    { in: 'cinderRef', kind: 'QoS specs', name, attributes: { consumer, specs } },
    type(name, { ...more, qos_specs_id: idOf('QoS specs', name) }),
  ];
}

function type(name: string, attributes: CloudResource['attributes']): CloudResource {
  return { in: 'cinderRef', kind: 'volume type', name, attributes };
}

function encrypted(encryption: VolumeType['encryption']): CloudResource['attributes'] {
  if (encryption === undefined) return {};
  const { provider = 'luks', cipher = 'aes-xts-plain64', keySize: key_size = 256 } = encryption;
  return { encryption: { provider, cipher, key_size, control_location: 'front-end' } };
}
