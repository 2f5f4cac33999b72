import type { HttpReply } from '@openstack-operator/sandbox';
import { plain } from '../../http.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { Messaging } from '../../oslo/messaging.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { confirmResize, migrateCold } from './nova-cold-migration.ts';
import { idleServer, saveTask } from './nova-instances.ts';
import { migrateLive } from './nova-live-migration.ts';

/** `POST /servers/ID/action`: those that this model knows. */
export async function actOnServer(context: ServiceContext, messaging: Messaging, call: Call): Promise<HttpReply> {
  const { body, id = '' } = call;
  if ('os-stop' in body) return await power(context, id, 'stop');
  if ('os-start' in body) return await power(context, id, 'start');
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
