import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { headerOf, json } from '../../http.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { demanded, type Owned, ownedRoute } from '../../model/owned.ts';
import type { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { queueOf, saveVolume, statusByAttachments } from './cinder-store.ts';
import { microversion } from './cinder-versions.ts';

/** Who has which volume, from 3.27 on: reserved, then attaching with a connector, then complete (cinder.api.v3.attachments). @throws Fault */
export function attachmentsRoute(context: ServiceContext, messaging: Messaging, call: Call): Promise<HttpReply> {
  if (microversion(call) < 27) throw new Fault(404, 'The resource could not be found.');
  return ownedRoute(attachments(context, messaging), call);
}

function shown({ id, attach_status: status, instance_uuid: instance, volume_id, ...row }: Row): Row {
  const { attach_mode, connection_info = {} } = row;
  return { id, status, instance, volume_id, attach_mode, connection_info };
}

/** What a backend's process answers. @throws Fault when nobody does */
async function ask(messaging: Messaging, queue: string, method: string, parameters: Row, words: string) {
  try {
    return await messaging.call(queue, method, parameters);
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    throw new Fault(500, words);
  }
}

const attachments = (context: ServiceContext, messaging: Messaging): Owned => ({
  table: 'volume_attachment',
  item: 'attachment',
  missing: (id) => `Volume attachment could not be found with filter: attachment_id = ${id}.`,
  shown,
  filters: { instance_id: 'instance_uuid', volume_id: 'volume_id' },
  async make(call) {
    const { body, store } = call;
    const asked = (body['attachment'] ?? {}) as Row;
    const { volume_uuid: id = '', instance_uuid } = asked as { volume_uuid?: string; instance_uuid?: string };
    if ('connector' in asked) throw new Fault(400, 'this simulated Cinder reserves volumes first, without a connector');
    const row = await store((schema) => {
      const volume = demanded(schema, call, 'volumes', id, `Volume ${id} could not be found.`);
      const { status, multiattach, project_id } = volume;
      if (String(status).includes('error'))
        throw new Fault(
          400,
          `Invalid volume: Volume attachments can not be created if the volume is in an error state. The Volume ${id} currently has a status of: ${String(status)} `,
        );
      const states = multiattach === true ? ['available', 'in-use', 'downloading'] : ['available', 'downloading'];
      const own = { volume_id: id, instance_uuid };
      // A server that moves has it twice for a while.
      const isMoving =
        instance_uuid !== undefined &&
        ['in-use', 'reserved'].includes(String(status)) &&
        rowsOf(schema, 'volume_attachment', own).length > 0;
      if (!states.includes(String(status)) && !isMoving)
        throw new Fault(
          400,
          `Invalid volume: Volume ${id} status must be ${states.join(' or ')} to reserve, but the current status is ${String(status)}.`,
        );
      if (!isMoving) saveVolume(schema, id, { status: 'reserved' });
      const row = {
        id: uuid(context.process.random),
        ...own,
        project_id,
        attach_status: 'reserved',
        attach_mode: 'null',
      };
      tableOf(schema, 'volume_attachment').set(row.id, row);
      return row;
    });
    return json(200, { attachment: shown(row) });
  },
  async change({ body, store }, { id, volume_id: volume }) {
    const { connector = {} } = (body['attachment'] ?? {}) as { connector?: Row };
    const queue = await store((schema) => queueOf(tableOf(schema, 'volumes').get(String(volume)) ?? {}));
    const words = 'Unable to update the attachment.';
    const info = await ask(messaging, queue, 'attachment_update', { attachment: id, volume, connector }, words);
    const row = await store((schema) =>
      Object.assign(tableOf(schema, 'volume_attachment').get(String(id)) ?? {}, { connection_info: info }),
    );
    return json(200, { attachment: shown(row) });
  },
  async remove({ request, store }, { id, volume_id: volume, attach_status: status, instance_uuid, connection_info }) {
    // Else a user would take a disk away from under a guest (cinder.volume.api.API.attachment_deletion_allowed).
    const isHeld = typeof instance_uuid === 'string' && connection_info !== undefined;
    if (isHeld && headerOf(request, 'x-service-token') === undefined)
      throw new Fault(
        409,
        `ConflictNovaUsingAttachment: Detach volume from instance ${instance_uuid} using the Compute API`,
      );
    const queue = await store((schema) => queueOf(tableOf(schema, 'volumes').get(String(volume)) ?? {}));
    if (status !== 'reserved')
      await ask(
        messaging,
        queue,
        'attachment_delete',
        { attachment: id, volume },
        'The server has either erred or is incapable of performing the requested operation.',
      );
    const left = await store((schema) => {
      tableOf(schema, 'volume_attachment').delete(String(id));
      saveVolume(schema, String(volume), { status: statusByAttachments(schema, String(volume)) });
      return rowsOf(schema, 'volume_attachment', { volume_id: volume });
    });
    return json(200, { attachments: left.map(shown) });
  },
  parts: {
    async action(call, { id, volume_id: volume }) {
      if (!('os-complete' in call.body) || microversion(call) < 44) throw new Fault(400, 'There is no such action');
      await call.store((schema) => {
        Object.assign(tableOf(schema, 'volume_attachment').get(String(id)) ?? {}, { attach_status: 'attached' });
        saveVolume(schema, String(volume), { status: 'in-use' });
      });
      return { status: 204 };
    },
  },
});
