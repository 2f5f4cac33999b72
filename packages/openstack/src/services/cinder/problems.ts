import type { Context } from '../../engine/vocabulary/context.ts';
import { clusterProblems } from '../../infrastructure/ceph/address.ts';
import { removedBackends } from '../backend-memory.ts';
import { backendProblems, backendsOf } from '../backends.ts';
import { words } from './configuration.ts';
import { driverMistake, mounts } from './drivers.ts';
import type { Backend, Cinder } from './kind.ts';
import { lvmBackends, portProblems } from './lvm.ts';
import { encryptedTypes } from './volume-types.ts';

/** What is wrong with backends and backups: drivers that nobody names, a pool whose cluster nobody names. */
export function storageProblems(context: Context<Cinder>): string[] {
  const { backup } = context.spec;
  return [
    ...backendProblems(words, context, ({ type }, at) =>
      type === 'ceph' ? clusterProblems(context, `${at}.type`) : [],
    ),
    ...removedBackends(context).flatMap(({ name, type }) =>
      type === 'ceph'
        ? clusterProblems(context, `spec.backends[name=${name}], which was removed, and may have volumes`)
        : [],
    ),
    ...(backup === undefined ? [] : backupProblems(context, backup)),
    ...keyProblems(context),
    ...portProblems(context.spec),
  ];
}

/** Backups of volumes that their process does not reach: pods have no initiator of iSCSI, as nodes do. */
export function remarksOn({ spec }: Context<Cinder>): string[] {
  const names = lvmBackends(spec).map(({ name }) => name);
  return spec.backup === undefined || names.length === 0
    ? []
    : [`spec.backup: volumes of type lvm (${names.join(', ')}) cannot be backed up: no pod reaches them by iSCSI`];
}

/** Drivers that Cinder does not have, and shares that nobody may mount. An earlier version looked at neither. */
export function driverMistakes(context: Context<Cinder>): string[] {
  const { backup } = context.spec;
  return [
    ...backendsOf(context.spec).flatMap((backend) =>
      mistakesOf(context, backend, `spec.backends[name=${backend.name}]`),
    ),
    ...(backup === undefined ? [] : backupMistakes(context, backup)),
  ];
}

function mistakesOf(context: Context<Cinder>, { name, type, config, rootHelpers }: Backend, at: string): string[] {
  if (type !== 'custom') return [];
  const driver = config?.['cinder.conf']?.[name]?.['volume_driver'];
  if (typeof driver !== 'string') return [];
  const mistake = mistakeOf(context, 'volume_driver', driver);
  if (mistake !== undefined) return [`${at}.config["cinder.conf"].${name}.volume_driver: ${mistake}`];
  return mounts(driver) && rootHelpers !== true
    ? [`${at}.rootHelpers: ${driver} mounts shares as root; set it to true`]
    : [];
}

function backupProblems(context: Context<Cinder>, { type, config }: NonNullable<Cinder['spec']['backup']>): string[] {
  if (type === 'ceph') return clusterProblems(context, 'spec.backup.type');
  if (type !== 'custom') return [];
  const driver = config?.['cinder.conf']?.['DEFAULT']?.['backup_driver'];
  if (driver === undefined)
    return [
      'spec.backup.config: type custom needs the option backup_driver of section DEFAULT of cinder.conf: the class of the driver',
    ];
  return [];
}

function backupMistakes(context: Context<Cinder>, { type, config }: NonNullable<Cinder['spec']['backup']>): string[] {
  if (type !== 'custom') return [];
  const driver = config?.['cinder.conf']?.['DEFAULT']?.['backup_driver'];
  const mistake = typeof driver === 'string' ? mistakeOf(context, 'backup_driver', driver) : undefined;
  return mistake === undefined ? [] : [`spec.backup.config["cinder.conf"].DEFAULT.backup_driver: ${mistake}`];
}

function mistakeOf({ spec }: Context<Cinder>, option: Parameters<typeof driverMistake>[0], name: string) {
  return spec.unknownOptions === 'Allow' ? undefined : driverMistake(option, name);
}

/** Types whose keys nobody keeps: neither a Barbican of this cloud, nor what the options name. */
function keyProblems({ spec, surroundings }: Context<Cinder>): string[] {
  if (surroundings.peer('Barbican') !== undefined) return [];
  return encryptedTypes(spec).map(
    ({ name }) =>
      `spec.volumeTypes[name=${name}].encryption: nobody keeps its keys; state barbican in the control plane, or backend of section key_manager in spec.config`,
  );
}
