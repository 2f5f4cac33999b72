import { hash } from 'node:crypto';
import { uuid } from '@openstack-operator/kube';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Database } from '../../oslo/database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import type { ShareDriver } from './manila-drivers.ts';
import { rulesOf, saveShare } from './manila-store.ts';

/** A backend's process, and what it works with. */
export interface Work {
  readonly context: ServiceContext;
  readonly database: Database;
  readonly driver: ShareDriver;
  /** Of its service, without the pool. */
  readonly host: string;
  readonly section: string;
}

/** What a message is of. */
export interface Message {
  readonly share: string;
  readonly snapshot?: string;
  readonly size?: number;
}

const logger = 'manila.share.manager';

/** What the process of a backend does (manila.share.manager): what is written down when it is done, and what is said. */
const tasks: Readonly<
  Record<string, readonly [end: (work: Work, schema: Schema, message: Message) => unknown, words: string]>
> = {
  create_share_instance: [made, 'Share created successfully.'],
  delete_share_instance: [
    (_work, schema, { share }) => {
      for (const table of ['share_access_map', 'share_instance_export_locations'])
        for (const { id } of rowsOf(schema, table, { share_id: share })) tableOf(schema, table).delete(String(id));
      tableOf(schema, 'shares').delete(share);
    },
    'Share deleted successfully.',
  ],
  create_snapshot: [
    (_work, schema, { snapshot = '' }) =>
      Object.assign(tableOf(schema, 'share_snapshots').get(snapshot) ?? {}, { status: 'available' }),
    'Snapshot created successfully.',
  ],
  delete_snapshot: [
    (_work, schema, { snapshot = '' }) => tableOf(schema, 'share_snapshots').delete(snapshot),
    'Snapshot deleted successfully.',
  ],
  extend_share: [resized, 'Extend share completed successfully.'],
  // Clients of shares are outside of the cloud: nothing is known to lie in one that would be lost.
  shrink_share: [resized, 'Shrink share completed successfully.'],
};

function resized(_work: Work, schema: Schema, { share, size }: Message): void {
  saveShare(schema, share, { status: 'available', size });
}

/** A copy is looked after by and by. */
function made(work: Work, schema: Schema, { share }: Message): void {
  const row = tableOf(schema, 'shares').get(share);
  if (row === undefined) return;
  if (row['snapshot_id'] !== undefined) row['status'] = 'creating_from_snapshot';
  else finish(work, schema, row);
}

/** A share is there, and clients find it. */
function finish(work: Work, schema: Schema, share: Row): void {
  share['status'] = 'available';
  locate(work, schema, share);
}

/** Writes down where a share is found, in place of what was written before. */
function locate({ context, driver, section }: Work, schema: Schema, { id }: Row): void {
  const { process, config } = context;
  const locations = tableOf(schema, 'share_instance_export_locations');
  for (const one of rowsOf(schema, 'share_instance_export_locations', { share_id: id }))
    locations.delete(String(one['id']));
  const own = uuid(process.random);
  const path = driver.locate(process, config, section, id);
  locations.set(own, { id: own, share_id: id, share_instance_id: id, path, preferred: false, is_admin_only: false });
}

/** Does what a message asks for. @throws PythonError */
export async function runTask(work: Work, method: string, message: Message): Promise<void> {
  const { context, database } = work;
  if (method === 'update_access') return updateAccess(work, message.share);
  if (method === 'ensure_driver_resources') return ensureShares(work, { isForced: true });
  const [end, words] = tasks[method] ?? [];
  if (end === undefined) throw new PythonError('NotImplementedError', `no model knows ${method}`);
  await pause(context.process, startTimes.manilaShare);
  await database.transaction('UPDATE', (schema) => end(work, schema, message));
  context.log.info(logger, String(words));
}

const begun: Readonly<Record<string, string>> = { queued_to_apply: 'applying', queued_to_deny: 'denying' };

/**
 * Tells the backend of rules that came and went: one run at a time for a share, as often as there are more. What a process
 * that was killed had begun keeps all later ones waiting (manila.share.access.ShareInstanceAccess).
 */
async function updateAccess(work: Work, share: string): Promise<void> {
  const { context, database } = work;
  const count = await database.transaction('UPDATE', (schema) => {
    const rules = rulesOf(schema, share);
    if (rules.some(({ state }) => Object.values(begun).includes(String(state)))) return 0;
    const queued = rules.filter(({ state }) => begun[String(state)] !== undefined);
    for (const rule of queued) rule['state'] = begun[String(rule['state'])];
    return queued.length;
  });
  if (count === 0) return;
  await pause(context.process, startTimes.manilaShare);
  await database.transaction('UPDATE', (schema) => {
    for (const rule of rulesOf(schema, share)) settle(work, schema, rule);
    const states = rulesOf(schema, share).map(({ state }) => String(state));
    const isOpen = states.some((state) => begun[state] !== undefined);
    saveShare(schema, share, {
      access_rules_status: isOpen ? 'syncing' : states.includes('error') ? 'error' : 'active',
    });
  });
  context.log.info(
    logger,
    `Access rules were successfully modified for share instance ${share} belonging to share ${share}.`,
  );
  await updateAccess(work, share);
}

/** A rule that the backend was told of. */
function settle({ context, driver, section }: Work, schema: Schema, rule: Row): void {
  if (rule['state'] === 'denying') tableOf(schema, 'share_access_map').delete(String(rule['id']));
  if (rule['state'] !== 'applying') return;
  try {
    Object.assign(rule, { state: 'active', access_key: driver.authorize(context.config, section, rule) });
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    const words = `Failed to provide ${String(rule['access_level'])} access to ${String(rule['access_to'])} (Rule ID: ${String(rule['id'])}). Setting rule to 'error' state.`;
    context.log.exception('manila.share.drivers.cephfs.driver', words, error);
    rule['state'] = 'error';
  }
}

/** Shares that this process has. */
const own = (schema: Schema, host: string, status: string): Row[] =>
  rowsOf(schema, 'shares', { status }).filter((row) => String(row['host']).split('#')[0] === host);

/** Ends the copies that are made by now, which the driver is asked for every so often. @throws PythonError */
export async function finishCopies(work: Work): Promise<void> {
  await work.database.transaction('UPDATE', (schema) => {
    for (const share of own(schema, work.host, 'creating_from_snapshot')) finish(work, schema, share);
  });
}

/**
 * At a start, when the backend says another thing of itself than before, or when somebody insists: shares are found elsewhere,
 * and rules are gone on with that a process which was killed had begun with (ensure_driver_resources). Else nothing is done.
 * @throws PythonError
 */
export async function ensureShares(work: Work, { isForced = false } = {}): Promise<void> {
  const { context, database, driver, host, section } = work;
  const info = driver.info?.(context.config, section) ?? '';
  const ensured = await database.transaction('UPDATE', (schema) => {
    const known = tableOf(schema, 'backend_info');
    const info_hash = hash('sha1', info);
    if (!isForced && known.get(host)?.['info_hash'] === info_hash) return [];
    known.set(host, { host, info_hash });
    const shares = own(schema, host, 'available');
    for (const share of shares) {
      locate(work, schema, share);
      for (const rule of rulesOf(schema, share['id']))
        rule['state'] = Object.keys(begun).find((queued) => begun[queued] === rule['state']) ?? rule['state'];
    }
    return shares.map(({ id }) => String(id));
  });
  for (const share of ensured) await updateAccess(work, share);
}
