import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** An operator that somebody else wrote; go.mod here pins it. */
interface Source {
  readonly name: string;
  readonly module: string;
  /** What is built: its own command, or ours. */
  readonly command: string;
  /** Where its module keeps the definitions of its kinds. */
  readonly definitions: string;
  /** Where its module keeps the ClusterRole that it works with, if it has it as a file. */
  readonly rights?: string;
}

const kOrc = 'github.com/k-orc/openstack-resource-controller/v2';

const sources: readonly Source[] = [
  {
    name: 'cert-manager',
    module: 'github.com/cert-manager/cert-manager',
    command: './cert-manager',
    definitions: 'deploy/crds',
  },
  {
    name: 'k-orc',
    module: kOrc,
    command: `${kOrc}/cmd/manager`,
    definitions: 'config/crd/bases',
    rights: 'config/rbac/role.yaml',
  },
];

/** What `buildPrograms` has made of an operator. */
export interface Program {
  /** Path of the executable. */
  readonly executable: string;
  /** Paths of CustomResourceDefinitions in YAML. */
  readonly definitions: readonly string[];
  /** Path of its ClusterRole in YAML; no file is there where its module has none. */
  readonly rights: string;
}

/** The operator of a name, once `buildPrograms` has built it. @throws Error when there is none */
export function programOf(name: string): Program {
  const source = sources.find((candidate) => candidate.name === name);
  if (source === undefined)
    throw new Error(`there is no operator ${name}: take one of ${sources.map((one) => one.name).join(', ')}`);
  const place = placeOf(source);
  const definitions = join(place, 'definitions');
  return {
    executable: join(place, name),
    definitions: readdirSync(definitions).map((file) => join(definitions, file)),
    rights: join(place, 'rights.yaml'),
  };
}

/** Builds the operators that are not built yet, outside the tree. @throws Error that says what to install */
export function buildPrograms(): void {
  for (const source of sources) if (!existsSync(placeOf(source))) build(source);
}

const here = import.meta.dirname;
const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'openstack-operator/foreign');

/** By all that decides what is built. */
function placeOf(source: Source): string {
  const own = source.command.startsWith('.') ? [join(here, source.command, 'main.go')] : [];
  const hash = createHash('sha256').update(JSON.stringify(source));
  for (const file of [join(here, 'go.mod'), join(here, 'go.sum'), ...own]) hash.update(readFileSync(file));
  return join(cache, `${source.name}-${hash.digest('hex').slice(0, 16)}`);
}

function build(source: Source): void {
  const { name, module, command } = source;
  process.stdout.write(`${name} is built from ${module}, once: a few minutes of processor time\n`);
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, '.building-'));
  try {
    const options = ['-trimpath', '-buildvcs=false', '-ldflags', '-s -w', '-o', join(work, name)];
    go(['build', ...options, command]);
    const root = go(['list', '-m', '-f', '{{.Dir}}', module]).trim();
    mkdirSync(join(work, 'definitions'));
    for (const file of readdirSync(join(root, source.definitions))) {
      if (file.endsWith('.yaml')) copyFileSync(join(root, source.definitions, file), join(work, 'definitions', file));
    }
    if (source.rights !== undefined) copyFileSync(join(root, source.rights), join(work, 'rights.yaml'));
    // Two builds may meet here: what the other one has made is as good.
    if (!existsSync(placeOf(source))) renameSync(work, placeOf(source));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Pinned: no other toolchain, workspace, flags or C compiler of the environment takes part. */
const pinned = { GOTOOLCHAIN: 'local', GOWORK: 'off', GOFLAGS: '-mod=readonly', CGO_ENABLED: '0' };

/** Where Go is run, and what of its environment differs. */
interface GoOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What a command of Go prints. @throws Error when there is no Go, or the command fails */
export function go(args: readonly string[], { cwd = here, env: more = {} }: GoOptions = {}): string {
  try {
    const env = { ...process.env, ...pinned, ...more };
    return execFileSync('go', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error;
    throw new Error('go is not on PATH: install Go 1.26.5 or newer (go.dev/dl)', { cause: error });
  }
}
