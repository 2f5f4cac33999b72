import type { HttpReply } from '@openstack-operator/sandbox';
import { bodyOf, json } from '../../http.ts';
import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import type { Collection } from '../../model/collection.ts';
import { commonWords, Fault } from '../../model/fault.ts';
import type { Identity } from '../../oslo/auth-token.ts';
import { PythonError } from '../../oslo/python-error.ts';

/** Extra specs that say yes or no (manila.share.share_types.is_valid_optional_extra_spec). */
const optional: ReadonlySet<string> = new Set([
  'snapshot_support',
  'create_share_from_snapshot_support',
  'revert_to_snapshot_support',
  'mount_snapshot_support',
  'mount_point_name_support',
]);
const serverMode = 'driver_handles_share_servers';

/** What a text says, in the words of oslo.utils; undefined where it says neither. */
function booleanOf(value: unknown): boolean | undefined {
  const word = String(value).trim().toLowerCase();
  if (['1', 't', 'true', 'on', 'y', 'yes'].includes(word)) return true;
  return ['0', 'f', 'false', 'off', 'n', 'no'].includes(word) ? false : undefined;
}

const strip = (value: unknown): string =>
  String(value)
    .trim()
    .replace(/^<is>\s*/i, '');
const isRight = (key: string, value: unknown): boolean =>
  key === serverMode ? booleanOf(value) !== undefined : !optional.has(key) || booleanOf(strip(value)) !== undefined;

/** @throws Fault for what is no value of its key, or no key */
function demandSpecs(specs: Row): void {
  const isText = (text: unknown) => typeof text === 'string' && text.length > 0 && text.length < 256;
  for (const [key, value] of Object.entries(specs))
    if (!isText(key) || !(isText(value) || typeof value === 'boolean') || !isRight(key, value))
      throw new Fault(400, `Invalid extra_spec: ${key}: ${String(value)}`);
  if (!Object.keys(specs).every((key) => /^[\w.:-]+$/.test(key)))
    throw new Fault(
      400,
      'Key names can only contain alphanumeric characters, underscores, periods, colons and hyphens.',
    );
}

/** What a new type must say (manila.share.share_types.create); one that is made may have keys of any form. @throws Fault */
function demandType(specs: Row): void {
  if (specs[serverMode] === undefined)
    throw new Fault(400, `Invalid extra_spec: Required extra specs '${serverMode}' not specified..`);
  for (const [key, value] of Object.entries(specs)) {
    if (isRight(key, value)) continue;
    if (key === serverMode)
      throw new Fault(400, `Invalid extra_spec: Value of required extra_spec ${key} is not valid.`);
    throw new Fault(
      400,
      `Invalid share type: Invalid extra_spec: Invalid boolean extra spec ${key} : ${String(value)}..`,
    );
  }
}

/** Types of shares (manila.api.v2.share_types). */
export const shareTypes: Collection = {
  path: 'types',
  key: 'share_types',
  item: 'share_type',
  created: 200,
  removed: 202,
  defaults: { description: null, 'share_type_access:is_public': true, extra_specs: {} },
  required: ['name'],
  unique: [['name']],
  saving(row, _use, before) {
    if (before === undefined) return demandType(row['extra_specs'] as Row);
    // Extra specs have a path of their own.
    row['extra_specs'] = before['extra_specs'];
  },
  actions: {
    extra_specs: (row, { request }) => {
      if (request.method !== 'POST') throw new Fault(405, 'The method is not allowed for the requested URL.');
      const { extra_specs: more } = bodyOf(request) ?? {};
      demandSpecs(more as Row);
      row['extra_specs'] = { ...(row['extra_specs'] as Row), ...(more as Row) };
      return json(200, { extra_specs: more });
    },
  },
};

/** What a share may do because of its type: written down with it, as a type may change (get_share_attributes_from_share_type). */
export function promises(type: Row | undefined): Row {
  const specs = (type?.['extra_specs'] ?? {}) as Row;
  return Object.fromEntries([...optional].map((key) => [key, booleanOf(strip(specs[key] ?? 'False')) ?? false]));
}

/** Bounds that a type has for a size, how they are worded, and what asks for which (provision_filter_on_size). */
const bounds = [
  { key: 'min_share_size', exceeds: -1, words: 'less than the minimum required size', of: ['create', 'shrink'] },
  { key: 'max_share_size', exceeds: 1, words: 'greater than the maximum allowable size', of: ['create', 'extend'] },
  {
    key: 'max_share_extend_size',
    exceeds: 1,
    words: 'greater than the maximum allowable extend size',
    of: ['extendAsAdmin'],
  },
] as const;

/** @throws Fault 400 for a size that a type does not have */
export function demandSize(type: Row, size: number, asked: (typeof bounds)[number]['of'][number]): void {
  const specs = (type['extra_specs'] ?? {}) as Readonly<Record<string, string | undefined>>;
  for (const { key, exceeds, words, of } of bounds) {
    const bound = specs[`provisioning:${key}`];
    if (bound === undefined || !of.some((one) => one === asked) || Math.sign(size - Number(bound)) !== exceeds)
      continue;
    throw new Fault(
      400,
      `Invalid input received: Specified share size of '${size}' is ${words} of '${bound}' for share type '${String(type['name'])}'..`,
    );
  }
}

/** Whether somebody finds a type by its name: all find public ones. */
export const seesType = ({ roles }: Identity, type: Row): boolean =>
  roles.includes('admin') || type['share_type_access:is_public'] !== false;

/** Lists types: of whom asks for those of all kinds (`is_public=all`) only an administrator is heard. @throws Fault */
export function typesRoute({ request, identity, id, query, store }: Call): Promise<HttpReply> | undefined {
  const isAdmin = identity.roles.includes('admin');
  if (request.method !== 'GET' && !isAdmin) throw new Fault(403, commonWords.forbidden('share_type:create'));
  if (request.method !== 'GET' || id !== undefined) return undefined;
  const all = isAdmin && query.get('is_public') === 'all';
  return store((schema) =>
    json(200, {
      share_types: [...tableOf(schema, 'share_types').values()].filter(
        (type) => all || type['share_type_access:is_public'] !== false,
      ),
    }),
  );
}

/** Whether a backend has what a type asks for (manila.scheduler.utils.capabilities_satisfied). @throws PythonError */
export function satisfies(capabilities: Row, specs: Row): boolean {
  return Object.entries(specs).every(([key, value]) => {
    const name = key.replace(/^capabilities:/, '');
    if (name.includes(':') || name === 'availability_zones') return true;
    const word = String(value).trim();
    if (/^(<(in|or)>|s?[=!<>]=?) /.test(word))
      throw new PythonError('NotImplementedError', `no model compares ${key} by ${word}`);
    const can = capabilities[name];
    if (typeof can === 'boolean') return can === (booleanOf(strip(word)) ?? strip(word));
    return String(can).toLowerCase() === word.toLowerCase();
  });
}
