import { json } from '../../http.ts';
import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { Fault } from '../../model/fault.ts';
import { demanded, type Owned } from '../../model/owned.ts';
import type { Messaging } from '../../oslo/messaging.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { demandQuota, newRow, queueOf } from './manila-store.ts';

/** Snapshots of shares (manila.api.v2.share_snapshots). */
export const snapshots = (context: ServiceContext, messaging: Messaging): Owned => ({
  table: 'share_snapshots',
  item: 'snapshot',
  filters: { share_id: 'share_id', status: 'status' },
  missing: (id) => `Snapshot ${id} could not be found.`,
  async make(call) {
    const { body, store } = call;
    const { share_id: id = '', name = null } = (body['snapshot'] ?? {}) as Row & { share_id?: string };
    const { queue, snapshot } = await store((schema) => {
      const share = demanded(schema, call, 'shares', id, `Share ${id} could not be found.`);
      if (share['snapshot_support'] !== true)
        throw new Fault(422, `Snapshots cannot be created for share '${id}' since it does not have that capability.`);
      if (share['status'] !== 'available')
        throw new Fault(400, 'Invalid share: Source share status must be available.');
      const { size, share_proto, project_id } = share;
      demandQuota(context, schema, project_id, { snapshot_gigabytes: Number(size), snapshots: 1 });
      const row = { ...newRow(context), name, share_id: id, size, share_size: size, share_proto, project_id };
      tableOf(schema, 'share_snapshots').set(row.id, row);
      return { queue: queueOf(share), snapshot: { ...row } };
    });
    messaging.cast(queue, 'create_snapshot', { share: id, snapshot: snapshot.id });
    return json(202, { snapshot });
  },
  async remove({ store }, { id, share_id: share }) {
    const queue = await store((schema) => {
      const row = tableOf(schema, 'share_snapshots').get(String(id)) ?? {};
      if (!['available', 'error'].includes(String(row['status'])))
        throw new Fault(400, "Invalid share snapshot: Share Snapshot status must be one of ('available', 'error')..");
      row['status'] = 'deleting';
      return queueOf(tableOf(schema, 'shares').get(String(share)) ?? {});
    });
    messaging.cast(queue, 'delete_snapshot', { share, snapshot: id });
    return { status: 202 };
  },
});
