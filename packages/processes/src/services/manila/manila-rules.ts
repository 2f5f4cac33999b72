import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../../http.ts';
import { type Row, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { now } from '../../model/service-rows.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { rulesOf } from './manila-store.ts';
import { demandVersion, microversion } from './manila-versions.ts';

const shown = ['id', 'share_id', 'access_level', 'access_to', 'access_type', 'state', 'access_key'];

/** A rule as bodies show it. */
export const shownRule = (rule: Row): Row => Object.fromEntries(shown.map((column) => [column, rule[column] ?? null]));

/** Rules of a share, or one: who may mount it (manila.api.v2.share_accesses). @throws Fault */
export async function rulesRoute(call: Call): Promise<HttpReply> {
  const { request, id, query, store, identity } = call;
  demandVersion(call, 45);
  if (request.method !== 'GET') throw new Fault(405, 'The method is not allowed for the requested URL.');
  const share = query.get('share_id');
  if (id === undefined && share === null) throw new Fault(400, "The field 'share_id' has to be specified.");
  return store((schema) => {
    const isSeen = (one: unknown) => {
      const row = tableOf(schema, 'shares').get(String(one));
      return row !== undefined && (identity.roles.includes('admin') || row['project_id'] === identity.projectId);
    };
    if (id === undefined) {
      if (!isSeen(share)) throw new Fault(400, `Share ${share} not found.`);
      return json(200, { access_list: rulesOf(schema, share).map(shownRule) });
    }
    const rule = tableOf(schema, 'share_access_map').get(id);
    if (rule === undefined || !isSeen(rule['share_id'])) throw new Fault(404, `Share access rule ${id} not found.`);
    return json(200, { access: shownRule(rule) });
  });
}

/** States of a share in which its rules stay as they are (manila.common.constants). */
const busy = ['creating', 'deleting', 'extending', 'shrinking'];

/** Refuses rules of a share that no process serves, or that is being changed. @throws Fault 400 */
function demandSettled(call: Call, { host, status }: Row, words: string): void {
  const isRefused = busy.includes(String(status)) || (status === 'error' && microversion(call) < 74);
  if (typeof host !== 'string' || isRefused)
    throw new Fault(
      400,
      `${words} while the share or any of its replicas or migration copies lacks a valid host or is in an invalid state.`,
    );
}

/** Lets a client mount a share, as soon as the share's process has told its backend. @throws Fault */
export function allow(context: ServiceContext, call: Call, schema: Schema, share: Row, asked: Row): Row {
  const { access_type: type = '', access_to: to = '', access_level: level = 'rw' } = asked as Record<string, string>;
  demandClient(call, type, to);
  if (!['rw', 'ro'].includes(level)) throw new Fault(400, `Invalid access rule: Invalid share access level: ${level}.`);
  if (rulesOf(schema, share['id']).some((rule) => rule['access_type'] === type && rule['access_to'] === to))
    throw new Fault(400, `Share access ${type}:${to} exists.`);
  demandSettled(call, share, 'New access rules cannot be applied');
  const rule = {
    id: uuid(context.process.random),
    share_id: share['id'],
    access_type: type,
    access_to: to,
    access_level: level,
    state: 'queued_to_apply',
    created_at: now(context),
  };
  tableOf(schema, 'share_access_map').set(rule.id, rule);
  share['access_rules_status'] = 'syncing';
  return rule;
}

/** Takes a rule away, as soon as the share's process has told its backend. @throws Fault */
export function deny(call: Call, schema: Schema, share: Row, { access_id: id }: Row): void {
  const rule = tableOf(schema, 'share_access_map').get(String(id));
  if (rule === undefined || rule['share_id'] !== share['id']) throw new Fault(404, 'Resource could not be found.');
  demandSettled(call, share, 'Access rules cannot be denied');
  rule['state'] = 'queued_to_deny';
  share['access_rules_status'] = 'syncing';
}

/** Whom a rule may name (manila.api.common.validate_access). @throws Fault 400 */
function demandClient(call: Call, type: string, to: string): void {
  const isCephKnown = microversion(call) >= 13;
  const known = ['ip', 'user', 'cert', ...(isCephKnown ? ['cephx'] : [])];
  if (!known.includes(type))
    throw new Fault(
      400,
      isCephKnown
        ? "Only 'ip', 'user', 'cert' or 'cephx' access types are supported."
        : "Only 'ip', 'user' or 'cert' access types are supported.",
    );
  if (type === 'ip' && !/^[\d.]+(\/\d+)?$|^[\da-f:]+(\/\d+)?$/iu.test(to))
    throw new Fault(400, `'${to}' does not appear to be an IPv4 or IPv6 network`);
  if (type !== 'cephx') return;
  if (to === '') throw new Fault(400, 'Ceph IDs may not be empty.');
  if (!/^[\t-\r -~]+$/u.test(to)) throw new Fault(400, 'Ceph IDs must consist of ASCII printable characters.');
  if (to.includes('.')) throw new Fault(400, 'Ceph IDs may not contain periods.');
}
