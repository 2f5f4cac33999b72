import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A project of a user in a folder of its own, outside of this repository. */
export interface EmptyProject extends Disposable {
  readonly folder: string;
  /** Installs tarballs without a registry: what they depend on is copied from our node_modules. */
  install(tarballs: readonly string[]): void;
  /** Runs a program in it. @throws Error with its output when it fails */
  run(program: string, ...argv: readonly string[]): string;
}

/** Makes one that holds the examples of `packages/<name>/example` as `<name>/example`. */
export function emptyProject(examples: readonly string[]): EmptyProject {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'project-')));
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    allowImportingTsExtensions: true,
    types: ['node'],
  };
  const project = { name: 'project', private: true, type: 'module' };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['*/example', '*/readme.ts'] }),
  );
  for (const name of examples) {
    cpSync(join(root, 'packages', name, 'example'), join(folder, name, 'example'), { recursive: true });
  }
  const run = (program: string, ...argv: readonly string[]) => {
    const { status, stdout, stderr, error } = spawnSync(program, argv, { cwd: folder, encoding: 'utf8' });
    if (status === 0) return stdout;
    throw new Error(`${program} ${argv.join(' ')} failed (${error?.message ?? status}):\n${stdout}${stderr}`);
  };
  return {
    folder,
    run,
    install(tarballs) {
      const manifests = tarballs.map(
        (tarball) => JSON.parse(run('tar', 'xzfO', tarball, 'package/package.json')) as Manifest,
      );
      const own = new Set(manifests.map(({ name }) => name));
      const types = ['@types/node', ...manifests.flatMap(({ peerDependencies = {} }) => Object.keys(peerDependencies))];
      const needed = [...types, ...manifests.flatMap(({ dependencies = {} }) => Object.keys(dependencies))];
      const folders = new Set<string>();
      for (const name of needed) if (!own.has(name)) addClosure(name, root, folders);
      // Where npm finds a package that fits, it asks no registry for it.
      for (const path of folders) cpSync(join(root, path), join(folder, path), { recursive: true });
      const devDependencies = Object.fromEntries(types.map((name) => [name, '*']));
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...project, devDependencies }));
      run('npm', 'install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', ...tarballs);
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Adds the folder of a package, as Node resolves it from another one, and of all that it depends on. */
function addClosure(name: string, from: string, found: Set<string>): void {
  let above = from;
  while (!existsSync(join(above, 'node_modules', name))) above = dirname(above);
  const folder = join(above, 'node_modules', name);
  const path = relative(root, folder);
  if (found.has(path)) return;
  found.add(path);
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  for (const dependency of Object.keys(dependencies)) addClosure(dependency, folder, found);
}
