import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parse } from 'yaml';

const repository = join(import.meta.dirname, '../..');
const recipes = join(repository, 'packages/facts/recipe');

/** What is asked of one service: an entry of services.yaml, which says what each field means. */
export interface ServiceRecipe {
  readonly from: 'images' | 'packages';
  readonly debian?: string;
  readonly distributions: readonly [string, ...string[]];
  readonly also?: readonly string[];
  readonly modules?: Readonly<Record<string, string>>;
  readonly directory?: true;
  readonly extends?: string;
}

/** How the facts of one release are made: a directory of packages/facts/recipe. */
export interface Recipe {
  readonly release: string;
  readonly services: ReadonlyMap<string, ServiceRecipe>;
  /** Names of Debian packages. */
  readonly packages: readonly string[];
  /** A file for pip. */
  readonly requirements: string;
  /** Of everything in the tree that decides what the facts are. */
  readonly hash: string;
}

/** The recipes of all releases, oldest first. */
export function readRecipes(): readonly Recipe[] {
  return readdirSync(recipes).sort().map(readRecipe);
}

function readRecipe(release: string): Recipe {
  const [packages, requirements, services] = ['packages', 'requirements.txt', 'services.yaml'].map((name) =>
    join(recipes, release, name),
  ) as [string, string, string];
  const hash = createHash('sha256');
  const inputs = [
    packages,
    requirements,
    services,
    join(import.meta.dirname, 'collect.py'),
    join(import.meta.dirname, 'modules.ts'),
    join(repository, 'images/layers/openstack/packages'),
  ];
  for (const input of inputs) hash.update(`${relative(repository, input)}\n`).update(readFileSync(input));
  return {
    release,
    services: new Map(Object.entries(parse(readFileSync(services, 'utf8')) as Record<string, ServiceRecipe>)),
    packages: linesOf(readFileSync(packages, 'utf8')),
    requirements,
    hash: hash.digest('hex').slice(0, 16),
  };
}

/** Lines of a list, without comments. */
function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim());
  return lines.filter((line) => line !== '');
}
