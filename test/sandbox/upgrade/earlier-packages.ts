import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as kube from '@openstack-operator/kube';
import type * as openstack from '@openstack-operator/openstack';
import type * as operator from '@openstack-operator/operator';

const root = join(import.meta.dirname, '../../..');
/** What the operator is made of. */
const sources = [...['kube', 'openstack', 'operator'].map((name) => `packages/${name}`), ':(exclude)*.test.ts'];

/** A revision of this repository, and what it says of itself. */
export interface Revision {
  readonly commit: string;
  readonly subject: string;
}

/** The packages of another revision, beside those of this one. */
export interface EarlierPackages extends Disposable {
  readonly kube: typeof kube;
  readonly openstack: typeof openstack;
  readonly operator: typeof operator;
}

/**
 * The revision that is upgraded from: the one that is asked for, or the last whose operator is not the one that
 * lies here. Text: why there is none.
 * @throws Error when the one that is asked for does not exist
 */
export function earlierRevision(asked: string | undefined): Revision | string {
  try {
    git('rev-parse', '--git-dir');
  } catch {
    return 'this is no git repository, so that no earlier operator is known';
  }
  if (asked !== undefined) {
    try {
      return revision(git('rev-parse', '--verify', '--quiet', `${asked}^{commit}`));
    } catch (error) {
      throw new Error(`FROM=${asked}: no such revision here; git log -- packages lists some`, { cause: error });
    }
  }
  const changed = git('log', '-20', '--format=%H', '--', ...sources)
    .split('\n')
    .filter(Boolean);
  const other = changed.find((commit) => git('diff', '--name-only', commit, '--', ...sources) !== '');
  if (other !== undefined) return revision(other);
  const shallow = git('rev-parse', '--is-shallow-repository') === 'true';
  return `no earlier revision of the operator is known${shallow ? ': the clone is shallow (git fetch --unshallow)' : ''}`;
}

/**
 * Unpacks the packages of a revision into a folder of their own, in which they find each other, and the npm packages
 * that are installed here.
 */
export async function earlierPackages({ commit }: Revision): Promise<EarlierPackages> {
  const folder = mkdtempSync(join(tmpdir(), 'openstack-operator-upgrade-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const archive = execFileSync('git', ['archive', commit, 'package.json', 'packages'], {
      cwd: root,
      maxBuffer: 2 ** 30,
    });
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    const modules = join(folder, 'node_modules');
    const own = join(modules, '@openstack-operator');
    mkdirSync(own, { recursive: true });
    for (const name of readdirSync(join(root, 'node_modules'))) {
      if (!name.startsWith('.') && name !== '@openstack-operator') {
        symlinkSync(join(root, 'node_modules', name), join(modules, name));
      }
    }
    for (const name of readdirSync(join(folder, 'packages')))
      symlinkSync(join(folder, 'packages', name), join(own, name));
    const load = async (name: string) =>
      (await import(pathToFileURL(join(folder, 'packages', name, 'src/index.ts')).href)) as never;
    return {
      kube: await load('kube'),
      openstack: await load('openstack'),
      operator: await load('operator'),
      [Symbol.dispose]: remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Whether a commit is in this repository: a shallow clone has few. */
export function isKnown(commit: string): boolean {
  try {
    git('cat-file', '-e', `${commit}^{commit}`);
    return true;
  } catch {
    return false;
  }
}

function revision(commit: string): Revision {
  return { commit, subject: git('log', '-1', '--format=%h %s', commit) };
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}
