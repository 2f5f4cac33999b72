import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../../http.ts';
import { type Row, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { commonWords, Fault } from '../../model/fault.ts';
import { demanded } from '../../model/owned.ts';
import type { Messaging } from '../../oslo/messaging.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { newImage } from './cinder-images.ts';
import { demandQuota, queueOf, saveVolume } from './cinder-store.ts';
import { microversion } from './cinder-versions.ts';

/** What an action does to a volume, and what it tells others; it may refuse. */
interface Use {
  readonly context: ServiceContext;
  readonly call: Call;
  readonly schema: Schema;
  readonly volume: Row;
  readonly id: string;
  readonly asked: Row;
}

/** What the volume's process is told. */
interface Told {
  readonly method: string;
  readonly parameters?: Row;
}

/** A state that an action begins in, and the one that it leads to. @throws Fault with the action's words */
function move({ schema, volume, id }: Use, from: readonly string[], status: string, words: string): void {
  const { status: before } = volume;
  if (!from.includes(String(before))) throw new Fault(400, `Invalid volume: ${words}`);
  saveVolume(schema, id, { status, previous_status: before });
}

/** Actions of volumes, by their names (cinder.api.contrib.volume_actions, admin_actions). */
const actions: Readonly<Record<string, (use: Use) => Told | undefined>> = {
  'os-extend'(use) {
    const { context, schema, volume, id, call } = use;
    const [size, before] = [Number(use.asked['new_size']), Number(volume['size'])];
    // What is in use grows from 3.42 on.
    const state = microversion(call) >= 42 && volume['status'] === 'in-use' ? 'in-use' : 'available';
    if (!(size > before))
      throw new Fault(
        400,
        `Invalid input received: New size for extend must be greater than current size. (current: ${before}, extended: ${size}).`,
      );
    demandQuota(context, schema, volume['project_id'], { gigabytes: size - before });
    move(
      use,
      [state],
      'extending',
      `Volume ${id} status must be '{'status': '${state}'}' to extend, currently ${String(volume['status'])}.`,
    );
    return { method: 'extend_volume', parameters: { size } };
  },
  'os-begin_detaching'(use) {
    const words =
      "Unable to detach volume. Volume status must be 'in-use' and attach_status must be 'attached' to detach.";
    move(use, ['in-use'], 'detaching', words);
    return undefined;
  },
  'os-roll_detaching'({ schema, volume, id }) {
    if (volume['status'] === 'detaching') saveVolume(schema, id, { status: 'in-use' });
    return undefined;
  },
  'os-reset_status'({ schema, id, asked, call }) {
    if (!call.identity.roles.includes('admin'))
      throw new Fault(403, commonWords.forbidden('volume_extension:volume_admin_actions:reset_status'));
    saveVolume(schema, id, { status: asked['status'] });
    return undefined;
  },
  'os-update_readonly_flag'({ schema, id, asked }) {
    saveVolume(schema, id, { readonly: asked['readonly'] });
    return undefined;
  },
  'os-set_bootable'({ schema, id, asked }) {
    saveVolume(schema, id, { bootable: String(asked['bootable'] === true) });
    return undefined;
  },
};

/** `POST /volumes/ID/action`. @throws Fault */
export async function actOnVolume(context: ServiceContext, messaging: Messaging, call: Call): Promise<HttpReply> {
  const { id = '', body, store } = call;
  const [[name, asked] = []] = Object.entries(body) as [string, Row | null][];
  if (name === 'os-volume_upload_image') return upload(context, messaging, call, asked ?? {});
  const act = actions[name ?? ''];
  if (act === undefined) throw new Fault(400, `this simulated Cinder knows no action ${String(name)} of volumes`);
  const [told, queue] = await store((schema) => {
    const volume = demanded(schema, call, 'volumes', id, `Volume ${id} could not be found.`);
    return [act({ context, call, schema, volume, id, asked: asked ?? {} }), queueOf(volume)] as const;
  });
  if (told !== undefined) messaging.cast(queue, told.method, { volume: id, ...told.parameters });
  return { status: 202 };
}

/** An image of a volume: made at once, and filled by the volume's process. @throws Fault */
async function upload(context: ServiceContext, messaging: Messaging, call: Call, asked: Row): Promise<HttpReply> {
  const { id = '', store, identity } = call;
  const { image_name: name, disk_format = 'raw', container_format = 'bare', force = false } = asked;
  const states = force === true ? ['available', 'in-use'] : ['available'];
  const queue = await store((schema) => {
    const volume = demanded(schema, call, 'volumes', id, `Volume ${id} could not be found.`);
    const words = `Volume ${id} status must be ${states.join(' or ')}`;
    move({ context, call, schema, volume, id, asked }, states, 'uploading', words);
    return queueOf(volume);
  });
  const image = await newImage(context, identity, { name, disk_format, container_format });
  messaging.cast(queue, 'copy_volume_to_image', { volume: id, image });
  const size = await store((schema) => tableOf(schema, 'volumes').get(id)?.['size']);
  const shown = { id, status: 'uploading', size, image_id: image.id, image_name: name, disk_format, container_format };
  return json(202, { 'os-volume_upload_image': shown });
}
