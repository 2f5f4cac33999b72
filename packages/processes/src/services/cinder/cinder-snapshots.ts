import { uuid } from '@openstack-operator/kube';
import { json } from '../../http.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { demanded, type Owned } from '../../model/owned.ts';
import { now } from '../../model/service-rows.ts';
import type { Messaging } from '../../oslo/messaging.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { demandQuota, queueOf, saveVolume } from './cinder-store.ts';
import { microversion } from './cinder-versions.ts';

/** Snapshots of volumes. RBD flattens what was made of one that goes (cinder.volume.drivers.rbd): nothing keeps it. */
export const snapshots = (context: ServiceContext, messaging: Messaging): Owned => ({
  table: 'snapshots',
  item: 'snapshot',
  filters: { volume_id: 'volume_id' },
  missing: (id) => `Snapshot ${id} could not be found.`,
  shown: ({ volume_size: size, project_id: project, ...row }) => ({
    ...row,
    size,
    'os-extended-snapshot-attributes:project_id': project,
  }),
  async make(call) {
    const { body, store } = call;
    const { volume_id: id = '', name = null, force } = (body['snapshot'] ?? {}) as Row & { volume_id?: string };
    // From 3.66 on nobody has to insist on one of a volume that is in use.
    const states = force === true || microversion(call) >= 66 ? ['available', 'in-use'] : ['available'];
    const { volume, ...snapshot } = await store((schema) => {
      const volume = demanded(schema, call, 'volumes', id, `Volume ${id} could not be found.`);
      if (!states.includes(String(volume['status'])))
        throw new Fault(
          400,
          `Invalid volume: Volume ${id} status must be ${states.join(', ')}, but current status is: ${String(volume['status'])}.`,
        );
      const { size, project_id } = volume;
      demandQuota(context, schema, project_id, { gigabytes: Number(size), snapshots: 1 });
      const row = {
        id: uuid(context.process.random),
        name,
        status: 'creating',
        volume_id: id,
        volume_size: size,
        project_id,
        created_at: now(context),
      };
      tableOf(schema, 'snapshots').set(row.id, row);
      return { ...row, volume };
    });
    messaging.cast(queueOf(volume), 'create_snapshot', { snapshot: snapshot.id });
    const { volume_size: size, ...shown } = snapshot;
    return json(202, { snapshot: { ...shown, size } });
  },
  async remove({ store }, { id, volume_id: volume }) {
    const queue = await store((schema) => {
      const row = tableOf(schema, 'snapshots').get(String(id)) ?? {};
      if (!['available', 'error'].includes(String(row['status'])))
        throw new Fault(
          400,
          'Invalid snapshot: Snapshot status must be available or error and must not be part of a group.',
        );
      Object.assign(row, { status: 'deleting' });
      return queueOf(tableOf(schema, 'volumes').get(String(volume)) ?? {});
    });
    messaging.cast(queue, 'delete_snapshot', { snapshot: String(id) });
    return { status: 202 };
  },
});

/** Volumes that are offered to whoever has the key (cinder.transfer.api): their snapshots go with them. */
export const transfers = (context: ServiceContext): Owned => ({
  table: 'transfers',
  item: 'transfer',
  missing: (id) => `Transfer ${id} could not be found.`,
  shown: ({ auth_key: _key, project_id: _project, ...row }) => row,
  async make(call) {
    const { body, store, identity } = call;
    const { volume_id: id = '', name = null } = (body['transfer'] ?? {}) as Row & { volume_id?: string };
    const [own, key] = [uuid(context.process.random), Buffer.from(context.process.random.bytes(8)).toString('hex')];
    const row = { id: own, name, volume_id: id, created_at: now(context) };
    await store((schema) => {
      const volume = demanded(schema, call, 'volumes', id, `Volume ${id} could not be found.`);
      if (volume['status'] !== 'available') throw new Fault(400, 'Invalid volume: status must be available');
      saveVolume(schema, id, { status: 'awaiting-transfer' });
      tableOf(schema, 'transfers').set(own, { ...row, auth_key: key, project_id: identity.projectId });
    });
    return json(202, { transfer: { ...row, auth_key: key } });
  },
  async remove({ store }, { id, volume_id: volume }) {
    await store((schema) => {
      tableOf(schema, 'transfers').delete(String(id));
      saveVolume(schema, String(volume), { status: 'available' });
    });
    return { status: 202 };
  },
});

/** `POST .../ID/accept`: whoever has the key need not see the transfer. @throws Fault */
export async function acceptTransfer(context: ServiceContext, call: Call) {
  const { id = '', body, store, identity } = call;
  const { auth_key: key } = (body['accept'] ?? {}) as Row;
  const { projectId: project } = identity;
  const volume = await store((schema) => {
    const transfer = tableOf(schema, 'transfers').get(id);
    if (transfer === undefined) throw new Fault(404, `Transfer ${id} could not be found.`);
    if (transfer['auth_key'] !== key)
      throw new Fault(400, `Invalid auth key: Attempt to transfer ${id} with invalid auth key.`);
    const volume = String(transfer['volume_id']);
    const copies = rowsOf(schema, 'snapshots', { volume_id: volume });
    const size = Number(tableOf(schema, 'volumes').get(volume)?.['size']);
    const gigabytes = size * (1 + copies.length);
    demandQuota(context, schema, project, { gigabytes, volumes: 1, snapshots: copies.length });
    for (const snapshot of copies) snapshot['project_id'] = project;
    saveVolume(schema, volume, { status: 'available', project_id: project });
    tableOf(schema, 'transfers').delete(id);
    return volume;
  });
  return json(202, { transfer: { id, volume_id: volume } });
}
