import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const day = 86_400_000;

/**
 * The directory `key` below the cache, made by `build` on first use, with the rules of the images' cache: the key is the
 * recipe, and what nobody has used for a day goes.
 */
export function cached(key: string, build: (building: string) => void): string {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'openstack-operator/facts');
  const directory = join(cache, key);
  if (!existsSync(directory)) {
    const building = `${directory}.new`;
    rmSync(building, { recursive: true, force: true });
    mkdirSync(building, { recursive: true });
    build(building);
    renameSync(building, directory);
  }
  utimesSync(directory, new Date(), new Date());
  for (const name of readdirSync(cache)) {
    const other = join(cache, name);
    if (Date.now() - statSync(other).mtimeMs > day) rmSync(other, { recursive: true, force: true });
  }
  return directory;
}
