import { spawnSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emit, type Library, libraries } from './library.ts';

const root = join(import.meta.dirname, '../..');

/**
 * Packs the libraries as they are published, into dist/libraries. Returns the paths of the tarballs.
 * @throws Error with the output of the compiler or of npm
 */
export function pack(): string[] {
  emit();
  return libraries().map((library) => {
    const folder = join(library.output, '..');
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(publishedManifest(library), null, 2)}\n`);
    copyFileSync(join(root, 'packages', library.name, 'README.md'), join(folder, 'README.md'));
    copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
    const argv = ['pack', '--json', '--ignore-scripts', '--pack-destination', join(root, 'dist/libraries')];
    const { status, stdout, stderr } = spawnSync('npm', argv, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`npm pack of ${library.manifest.name} failed:\n${stderr}`);
    const packed = Object.values(JSON.parse(stdout) as Record<string, { filename: string }>);
    return join(root, 'dist/libraries', packed[0]?.filename ?? '');
  });
}

/** Sources become what was emitted from them, and a library among the dependencies gets its version. */
function publishedManifest({ manifest, entries }: Library): object {
  const { private: _private, exports: _exports, ...published } = manifest;
  return {
    ...published,
    files: ['dist'],
    exports: Object.fromEntries(
      Object.entries(entries).map(([entry, path]) => [
        entry,
        { types: `./dist/${path}.d.ts`, default: `./dist/${path}.js` },
      ]),
    ),
  };
}
