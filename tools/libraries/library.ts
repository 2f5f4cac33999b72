import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** A package of ours that is published. */
export interface Library {
  /** Its folder in packages/. */
  readonly name: string;
  readonly manifest: Manifest;
  /** Entry points by their name in `exports` (`.`, `./schema`): paths below `src`, without extension. */
  readonly entries: Readonly<Record<string, string>>;
  /** Folder of the emitted JavaScript and declarations. */
  readonly output: string;
}

/** What of a package.json concerns publishing. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

const root = join(import.meta.dirname, '../..');

/** Folders of the libraries; each after those that it imports. */
const names = ['kube', 'sandbox'] as const;

/** The libraries, read from their package.json. */
export function libraries(): readonly Library[] {
  return names.map((name) => {
    const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as Manifest;
    const entries = Object.fromEntries(
      Object.entries(manifest.exports).map(([entry, path]) => [entry, path.replace(/^\.\/src\/|\.ts$/g, '')]),
    );
    return { name, manifest, entries, output: join(root, 'dist/libraries', name, 'dist') };
  });
}

/**
 * Emits JavaScript and declarations of all libraries, of what their entry points reach.
 * @throws Error with the compiler's output
 */
export function emit(): void {
  for (const library of libraries()) {
    const { name, entries, output } = library;
    const source = join(root, 'packages', name, 'src');
    rmSync(output, { recursive: true, force: true });
    mkdirSync(output, { recursive: true });
    const config = join(output, '..', 'tsconfig.json');
    const compilerOptions = {
      noEmit: false,
      declaration: true,
      // Node 24 has `using`; types of the root's older target stay.
      target: 'esnext',
      rewriteRelativeImportExtensions: true,
      rootDir: source,
      outDir: output,
      // Declarations of the libraries before: their sources are not this one's to emit.
      paths: Object.fromEntries(
        libraries()
          .filter((other) => other.name !== name)
          .map((other) => [other.manifest.name, [join(other.output, 'index.d.ts')]]),
      ),
    };
    const files = Object.values(entries).map((entry) => join(source, `${entry}.ts`));
    writeFileSync(
      config,
      JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files }),
    );
    const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['--project', config], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`packages/${name} cannot be emitted:\n${stdout}`);
    for (const path of readdirSync(output, { recursive: true, encoding: 'utf8' })) {
      if (path.endsWith('.d.ts')) rewriteExtensions(join(output, path));
    }
  }
}

/** The compiler rewrites extensions of imports in JavaScript only. */
function rewriteExtensions(file: string): void {
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replaceAll(/((?:from|import\() ?'\.[^']*)\.ts'/g, "$1.js'"));
}

/** A path below the root of the repository, for messages. */
export function shown(path: string): string {
  return relative(root, path);
}
