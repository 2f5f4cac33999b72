import type { Image, ImageEntry, Program } from '@openstack-operator/sandbox';
import { accountFiles, kollaId } from './kolla-users.ts';
import { CommandError, command } from './program-support.ts';
import { curl } from './shell/curl.ts';
import { baseCommands } from './shell/system-commands.ts';

/** What distinguishes one image from the others. */
export interface Recipe {
  /** Kolla's names for it: the last part of the reference, without tag. */
  readonly names: readonly string[];
  /** The service user: owns /var/lib/<user>. */
  readonly user: string;
  /** The image's USER line is that user; root otherwise. */
  readonly runsAsUser?: boolean;
  /** Programs by directory. */
  readonly programs: Readonly<Record<string, Readonly<Record<string, Program>>>>;
  readonly files?: Readonly<Record<string, string | ImageEntry>>;
}

/** Where the programs of OpenStack's images are. */
export const venv = '/var/lib/kolla/venv/bin';

/** `kolla_start` wants Kolla's own contract, which nobody here meets. */
const kollaStart = command((process) => {
  process.stdout('+ sudo -E kolla_set_configs\n');
  if (process.uid !== 0)
    throw new CommandError('sudo: The "no new privileges" flag is set, which prevents sudo from running as root.');
  throw new CommandError('ERROR:__main__:KOLLA_CONFIG_STRATEGY is not set properly');
});

/** The image that a recipe describes, with more files. */
export function imageOf(recipe: Recipe, more: Readonly<Record<string, string>>): Image {
  const { names, user, runsAsUser = false } = recipe;
  const isOpenstack = recipe.programs[venv] !== undefined;
  const base = Object.entries({ ...baseCommands, curl });
  const programs: Record<string, Program> = {
    ...Object.fromEntries(
      base.flatMap(([name, program]) => [
        [name, program],
        [`/bin/${name}`, program],
        [`/usr/bin/${name}`, program],
      ]),
    ),
    kolla_start: kollaStart,
  };
  for (const [directory, contents] of Object.entries(recipe.programs)) {
    for (const [name, program] of Object.entries(contents)) {
      // Directories outside of PATH are known by the whole path only.
      if ([venv, '/usr/bin', '/usr/sbin', '/bin', '/usr/local/bin'].includes(directory)) programs[name] = program;
      programs[`${directory}/${name}`] = program;
    }
  }
  return {
    matches: (reference) => names.includes(imageName(reference)),
    programs,
    entrypoint: ['dumb-init', '--single-child', '--', 'kolla_start'],
    files: {
      ...accountFiles,
      [`/var/lib/${user}`]: owned(user),
      '/var/log/kolla': { mode: 0o2775, gid: kollaId('kolla') },
      ...more,
      ...recipe.files,
    },
    ...(runsAsUser && { user: kollaId(user) }),
    env: {
      LANG: 'en_US.UTF-8',
      KOLLA_BASE_DISTRO: 'debian',
      PATH: `${isOpenstack ? `${venv}:` : ''}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    },
  };
}

/** A directory of a service's user. */
export function owned(user: string): ImageEntry {
  return { mode: 0o755, uid: kollaId(user), gid: kollaId(user) };
}

/** `registry:5000/a/keystone:2025.1@sha256:...` -> `keystone`. */
export function imageName(reference: string): string {
  const [path = ''] = reference.split('@');
  return (path.split('/').at(-1) ?? '').split(':')[0] ?? '';
}
