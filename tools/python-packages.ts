import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The directory with the packages of `requirements`, for PYTHONPATH: installed on first use, outside the tree, under
 * `name`, by requirements and version of Python.
 * @throws Error that says what to install
 */
export function pythonPackages(name: string, requirements: string): string {
  const version = python([
    '-c',
    'import platform, sys; print(sys.version_info >= (3, 10), sys.version, platform.platform())',
  ]);
  if (!version.startsWith('True')) throw new Error(`python3 is ${version.slice(6)}: install Python 3.10 or newer`);
  const hash = createHash('sha256').update(readFileSync(requirements)).update(version).digest('hex').slice(0, 16);
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'openstack-operator', name);
  const place = join(cache, hash);
  if (existsSync(place)) return place;
  try {
    python(['-m', 'pip', '--version']);
  } catch (error) {
    throw new Error('python3 has no pip: install it (Debian: apt-get install python3-pip)', { cause: error });
  }
  mkdirSync(cache, { recursive: true });
  const building = mkdtempSync(join(cache, '.building-'));
  try {
    const options = ['--quiet', '--no-deps', '--disable-pip-version-check', '--root-user-action=ignore'];
    python(['-m', 'pip', 'install', ...options, '--target', building, '--requirement', requirements]);
    // Two runs may meet here: what the other one has built is as good.
    if (!existsSync(place)) renameSync(building, place);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
  return place;
}

/** Runs python3; gives what it printed. @throws Error that says what to install where there is none */
export function python(argv: readonly string[]): string {
  try {
    return execFileSync('python3', argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error;
    throw new Error('python3 is not on PATH: install Python 3.10 or newer (Debian: apt-get install python3)', {
      cause: error,
    });
  }
}
