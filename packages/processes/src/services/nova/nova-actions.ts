import type { HttpReply } from '@openstack-operator/sandbox';
import { plain } from '../../http.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { Messaging } from '../../oslo/messaging.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { confirmResize, migrateCold } from './nova-cold-migration.ts';
import { idleServer, saveTask } from './nova-instances.ts';
import { migrateLive } from './nova-live-migration.ts';
import { userOf } from './user-client.ts';

/** `POST /servers/ID/action`: those that this model knows. */
export async function actOnServer(context: ServiceContext, messaging: Messaging, call: Call): Promise<HttpReply> {
  const { body, id = '' } = call;
  if ('os-stop' in body) return await power(context, id, 'stop');
  if ('os-start' in body) return await power(context, id, 'start');
  if ('reboot' in body) return await reboot(context, call);
  if ('os-migrateLive' in body) return await migrateLive(context, messaging, call);
  if ('migrate' in body) return await migrateCold(context, messaging, call, 'migrate');
  if ('resize' in body) return await migrateCold(context, messaging, call, 'resize');
  if ('confirmResize' in body) return await confirmResize(context, id);
  throw new Fault(400, `There is no such action: ${Object.keys(body).join(' | ')}`);
}

/** Has the compute of a server's host start or stop it. */
async function power(context: ServiceContext, id: string, action: 'start' | 'stop'): Promise<HttpReply> {
  const isStart = action === 'start';
  const { cell, row } = await idleServer(context, id, action, [isStart ? 'stopped' : 'active']);
  await saveTask(context, cell, id, isStart ? 'powering-on' : 'powering-off');
  new Messaging(context, cell.transportUrl).cast(`compute.${String(row['host'])}`, `${action}_instance`, id);
  return plain(202, '');
}

/** Has the guest of a server started anew: a soft one is no other for a guest that is not asked. @throws Fault */
async function reboot(context: ServiceContext, { body, id: uuid = '', identity }: Call): Promise<HttpReply> {
  const { type } = (body['reboot'] ?? {}) as { type?: string };
  if (type !== 'HARD') throw new Fault(400, 'this model reboots servers with type HARD');
  const { cell, row } = await idleServer(context, uuid, 'reboot', ['active', 'stopped']);
  await saveTask(context, cell, uuid, 'rebooting_hard');
  const message = { uuid, user: userOf(identity) };
  new Messaging(context, cell.transportUrl).cast(`compute.${String(row['host'])}`, 'reboot_instance', message);
  return plain(202, '');
}
