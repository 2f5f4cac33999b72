import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { run, StepError } from '../tools/cloud/step.ts';

/** Pinned: no other toolchain, workspace, flags or C compiler of the environment takes part. */
const go = { GOTOOLCHAIN: 'local', GOWORK: 'off', GOFLAGS: '-mod=readonly', CGO_ENABLED: '0' };

/**
 * Builds a program of the Go module in this folder once, outside of the tree; gives its path. Needs Go, and the module
 * proxy the first time.
 * @param folder of its main package, such as `client/client-go`
 * @throws StepError with the last words of what failed
 */
export async function goProgram(folder: string): Promise<string> {
  const sources = ['go.mod', 'go.sum', ...globSync(`${folder}/*.go`, { cwd: import.meta.dirname }).sort()];
  return await goBuild('.', `./${folder}`, sources);
}

/**
 * The same of a program that others wrote: a tool of the Go module in a folder that has nothing else.
 * @param tool its import path, such as `sigs.k8s.io/kwok/cmd/kwok`
 */
export async function goTool(folder: string, tool: string): Promise<string> {
  return await goBuild(folder, tool, [`${folder}/go.mod`, `${folder}/go.sum`]);
}

/** The sources of a module that the module in a folder requires: the path of its folder. */
export function goSources(folder: string, module: string): string {
  const argv = ['-C', join(import.meta.dirname, folder), 'mod', 'download', '-json', module];
  const answer = execFileSync('go', argv, { encoding: 'utf8', env: { ...process.env, ...go } });
  return (JSON.parse(answer) as { Dir: string }).Dir;
}

async function goBuild(module: string, program: string, sources: readonly string[]): Promise<string> {
  const place = await cached('go', sources, async (made, log) => {
    const flags = ['-trimpath', '-buildvcs=false', '-ldflags', '-s -w', '-o', join(made, 'program')];
    await run('go', ['-C', join(import.meta.dirname, module), 'build', ...flags, program], { log, env: go });
  });
  return join(place, 'program');
}

/** Installs the npm packages of a folder with a `package.json` and a lock of its own outside of the tree; gives where. */
export async function npmModules(folder: string): Promise<string> {
  const sources = ['package.json', 'package-lock.json'].map((file) => join(folder, file));
  return await cached('npm', sources, async (made, log) => {
    for (const source of ['package.json', 'package-lock.json'])
      copyFileSync(join(import.meta.dirname, folder, source), join(made, source));
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline'];
    await run('npm', ['ci', '--prefix', made, ...flags], { log });
  });
}

/** What was made of these files; made now where it was not. */
async function cached(
  sort: string,
  sources: readonly string[],
  make: (made: string, log: string) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256');
  for (const source of sources) hash.update(`${source}\n`).update(readFileSync(join(import.meta.dirname, source)));
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'openstack-operator/bench');
  const place = join(cache, `${sort}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(place)) return place;
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, '.building-'));
  const made = join(work, 'made');
  mkdirSync(made);
  try {
    await make(made, join(work, 'log'));
    // Two builds may meet here: what the other one has made is as good.
    if (!existsSync(place)) renameSync(made, place);
  } catch (error) {
    throw new StepError(`${error instanceof Error ? error.message : String(error)}\n${remedies[sort]}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return place;
}
const remedies: Readonly<Record<string, string>> = {
  go: 'It needs Go 1.26 or newer on PATH (go.dev/dl), and a module proxy: "go env GOPROXY" says which.',
  npm: 'It needs npm, and the registry that "npm config get registry" says.',
};
