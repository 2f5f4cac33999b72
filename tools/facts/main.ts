import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Answer, askLibraries, askService } from './ask.ts';
import { differenceOf } from './difference.ts';
import { type Asked, modulesOf } from './modules.ts';
import { type Recipe, readRecipes } from './recipe.ts';
import { imageRoot, packageRoot, type Root } from './roots.ts';

/**
 * Writes packages/facts/src/generated from OpenStack's own packages; with `--check`, says what is committed and would
 * not be made now, and exits with 1 if there is any. Needs root, and what images/build needs.
 */
const usage = 'usage: node tools/facts/main.ts [--check]';
const generated = join(import.meta.dirname, '../../packages/facts/src/generated');
const begun = Date.now();

function say(line: string): void {
  const seconds = Math.round((Date.now() - begun) / 1000);
  process.stderr.write(`[${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}] ${line}\n`);
}

/** The facts of one release, by path below its directory. */
function make(recipe: Recipe): ReadonlyMap<string, string> {
  const roots = new Map<string, Root>();
  const rootOf = (from: 'images' | 'packages') => {
    const root = roots.get(from) ?? (from === 'images' ? imageRoot(say) : packageRoot(recipe, say));
    roots.set(from, root);
    return root;
  };
  const services: Asked[] = [];
  for (const [service, asked] of recipe.services) {
    const root = rootOf(asked.from);
    say(`${recipe.release}: ${service} (${services.length + 1} of ${recipe.services.size})`);
    try {
      services.push({ service, recipe: asked, answer: askService(root, asked) });
    } catch (error) {
      throw new Error(`${recipe.release}: ${service}: ${(error as Error).message}`, { cause: error });
    }
  }
  say(`${recipe.release}: libraries`);
  const answers = [...roots].map(([from, root]) => {
    const asked = services.filter((one) => one.recipe.from === from).flatMap(({ answer }) => shared(answer));
    return askLibraries(root, [...new Set(asked)].sort(), from === 'images');
  });
  const [first, ...others] = answers as [Answer, ...Answer[]];
  const libraries = {
    ...first,
    namespaces: Object.assign({}, ...others.map(({ namespaces }) => namespaces), first.namespaces),
  };
  return modulesOf({ hash: recipe.hash, services, libraries });
}

function shared({ namespaces }: Answer): string[] {
  return Object.keys(namespaces).filter((name) => namespaces[name]?.origin !== 'own');
}

function main(check: boolean): number {
  let differences = 0;
  for (const recipe of readRecipes()) {
    const directory = join(generated, recipe.release);
    const paths = existsSync(directory) ? globSync('**/*.{js,ts,json}', { cwd: directory }) : [];
    const committed = new Map(paths.map((path) => [path, readFileSync(join(directory, path), 'utf8')]));
    const made = make(recipe);
    const difference = differenceOf(committed, made);
    for (const line of difference) console.log(line.startsWith(' ') ? line : `${recipe.release}/${line}`);
    differences += difference.length;
    if (check) continue;
    for (const path of paths) if (!made.has(path)) rmSync(join(directory, path));
    for (const [path, content] of made) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      if (committed.get(path) !== content) writeFileSync(join(directory, path), content);
    }
  }
  say(differences === 0 ? 'as committed' : check ? 'not as committed; make facts writes it' : 'written');
  return check && differences > 0 ? 1 : 0;
}

const [flag, ...rest] = process.argv.slice(2);
if (rest.length > 0 || (flag !== undefined && flag !== '--check')) {
  console.error(usage);
  process.exit(2);
}
try {
  process.exitCode = main(flag === '--check');
} catch (error) {
  console.error(`tools/facts: ${(error as Error).message}`);
  process.exitCode = 1;
}
