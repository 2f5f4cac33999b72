import { join } from 'node:path';
import { build } from 'esbuild';

/** One of our programs as one file, as `tools/build` makes the operator's: types are gone before it runs. */
export async function bundle(program: string, folder: string): Promise<string> {
  const outfile = join(folder, 'operator.mjs');
  await build({
    entryPoints: [program],
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    outfile,
    logLevel: 'error',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  });
  return outfile;
}
