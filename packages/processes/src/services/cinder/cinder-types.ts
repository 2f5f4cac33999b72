import type { HttpReply } from '@openstack-operator/sandbox';
import { bodyOf, json, locationOf } from '../../http.ts';
import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import type { Collection, RowUse } from '../../model/collection.ts';
import { commonWords, Fault } from '../../model/fault.ts';

const ofEncryption: readonly string[] = ['provider', 'cipher', 'key_size', 'control_location'];

/** Encryption of a type: made once, and shown alone (cinder.api.contrib.volume_type_encryption). */
function encryption(row: Row, { request }: RowUse): HttpReply {
  if (request.method === 'GET') return json(200, row['encryption'] ?? {});
  const { encryption: wanted = {} } = (bodyOf(request) ?? {}) as { encryption?: Row };
  for (const name of ['provider', 'control_location'])
    if (wanted[name] === undefined)
      throw new Fault(
        400,
        `Invalid input for field/attribute encryption. Value: ${JSON.stringify(wanted)}. '${name}' is a required property`,
      );
  if (row['encryption'] !== undefined)
    throw new Fault(409, `Volume type encryption for type ${String(row['id'])} already exists.`);
  row['encryption'] = Object.fromEntries(ofEncryption.map((name) => [name, wanted[name] ?? null]));
  return json(200, { encryption: wanted });
}

/** Types of volumes. A public one is made under another name of the attribute than it is shown (cinder.api.schemas.volume_types). */
export const volumeTypes: Collection = {
  path: 'types',
  key: 'volume_types',
  item: 'volume_type',
  created: 200,
  removed: 202,
  defaults: { description: null, is_public: true, extra_specs: {}, qos_specs_id: null },
  required: ['name'],
  unique: [['name']],
  saving(row, _use, before) {
    const { 'os-volume-type-access:is_public': isPublic } = row;
    if (before === undefined) row['is_public'] = isPublic ?? true;
    delete row['os-volume-type-access:is_public'];
  },
  shown: ({ encryption: _encryption, ...row }) => row,
  actions: {
    encryption,
    extra_specs: (row, { request }) => {
      if (request.method !== 'POST') throw new Fault(405, 'The method is not allowed for the requested URL.');
      const { extra_specs: more } = bodyOf(request) ?? {};
      row['extra_specs'] = { ...(row['extra_specs'] as Row), ...(more as Row) };
      return json(200, { extra_specs: more });
    },
  },
};

const ofQos: readonly string[] = ['id', 'name', 'consumer', 'specs'];

/** QoS specs: what is stated beside name and consumer is a spec, whatever its name (cinder.volume.qos_specs). */
export const qosSpecs: Collection = {
  path: 'qos-specs',
  table: 'quality_of_service_specs',
  item: 'qos_specs',
  created: 200,
  removed: 202,
  defaults: { consumer: 'back-end', specs: {} },
  required: ['name'],
  unique: [['name']],
  saving(row) {
    const specs = Object.entries(row).filter(([name]) => !ofQos.includes(name));
    for (const [name] of specs) delete row[name];
    row['specs'] = { ...(row['specs'] as Row), ...Object.fromEntries(specs) };
    const { consumer } = row;
    if (!['front-end', 'back-end', 'both'].includes(String(consumer)))
      throw new Fault(400, "Invalid qos specs: Valid consumer of QoS specs are: ['front-end', 'back-end', 'both']");
  },
  actions: {
    associate: (row, { request, schema }) => {
      const id = locationOf(request).query.get('vol_type_id') ?? '';
      const type = tableOf(schema, 'volume_types').get(id);
      if (type === undefined) throw new Fault(404, `Volume type ${id} could not be found.`);
      type['qos_specs_id'] = row['id'];
      return { status: 202 };
    },
  },
};

/** Lists types: of whom asks for those of all kinds (`is_public=None`) only an administrator is heard. @throws Fault */
export function typesRoute({ request, identity, id, query, store }: Call): Promise<HttpReply> | undefined {
  const isAdmin = identity.roles.includes('admin');
  if (request.method !== 'GET' && !isAdmin)
    throw new Fault(403, commonWords.forbidden('volume_extension:types_manage'));
  if (request.method !== 'GET' || id !== undefined) return undefined;
  const all = isAdmin && query.get('is_public') === 'None';
  return store((schema) => {
    const types = [...tableOf(schema, 'volume_types').values()];
    const seen = types.filter(({ is_public: isPublic }) => all || isPublic !== false);
    return json(200, { volume_types: seen.map(({ encryption: _encryption, ...row }) => row) });
  });
}
