import { parseTimestamp } from '@openstack-operator/kube';
import { type Row, type Schema, tableOf } from '../infrastructure/mysql-protocol.ts';
import type { ServiceContext } from '../oslo/service-context.ts';
import { isoTime } from '../program-support.ts';

/** Services that write themselves down in the table `services` of their database, and report every so often. */

/** `[DEFAULT] host`: the host name unless it is set. */
export function hostOf({ process, config }: ServiceContext): string {
  return config.optional('DEFAULT', 'host') ?? process.pod.hostname;
}

/** The present time, as rows have it. */
export const now = ({ process }: ServiceContext): string => isoTime(Math.floor(process.clock.now() / 1000));

/** Writes a service down, when it starts and every so often; what it can do is told to schedulers by a fan-out in truth. */
export function report(context: ServiceContext, schema: Schema, host: string, binary: string, more: Row = {}): void {
  const services = tableOf(schema, 'services');
  const known = services.get(`${host}/${binary}`) ?? { host, binary, topic: binary, disabled: false };
  services.set(`${host}/${binary}`, { ...known, ...more, updated_at: now(context) });
}

/** Whether a service has reported lately (`service_down_time`). */
export function isUp({ process, config }: ServiceContext, row: Row): boolean {
  const seen = parseTimestamp(String(row['updated_at']));
  return process.clock.now() - seen <= config.integer('DEFAULT', 'service_down_time') * 1000;
}

/** Services as an API lists them; the state of one follows from its last report, unless its database says it (`state`). */
export function listed(context: ServiceContext, schema: Schema): Row[] {
  return [...tableOf(schema, 'services').values()].map((row) => ({
    binary: row['binary'],
    host: row['host'],
    zone: 'nova',
    status: row['disabled'] === true ? 'disabled' : 'enabled',
    state: row['state'] ?? (isUp(context, row) ? 'up' : 'down'),
    updated_at: row['updated_at'],
    disabled_reason: row['disabled_reason'] ?? null,
  }));
}

/** Of listed services those that a query asks for. */
export function asked(services: readonly Row[], query: URLSearchParams): Row[] {
  return services.filter((one) =>
    ['host', 'binary'].every((key) => query.get(key) === null || query.get(key) === one[key]),
  );
}

/** Whether a service may be given something new. */
export function isEnabled(row: Row): boolean {
  return row['disabled'] !== true;
}

/** Lets a scheduler choose a service, or not. @returns what the API answers, undefined where there is no such service */
export function setEnabled(schema: Schema, body: Row, isOn: boolean): Row | undefined {
  const { host, binary, disabled_reason: reason = null } = body;
  const row = tableOf(schema, 'services').get(`${String(host)}/${String(binary)}`);
  if (row === undefined) return undefined;
  Object.assign(row, { disabled: !isOn, disabled_reason: isOn ? null : reason });
  return {
    host,
    binary,
    disabled: !isOn,
    status: isOn ? 'enabled' : 'disabled',
    disabled_reason: row['disabled_reason'],
  };
}
