import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineKind, realClock, realRandom } from '@openstack-operator/kube';
import { createSandbox, type Sandbox, type User } from '@openstack-operator/sandbox';
import { test as base } from 'vitest';
import { parseDocument } from 'yaml';
import { type Ran, type RunOptions, run, words } from './command.ts';
import { app } from './programs.ts';

/** How a kubectl differs from the administrator's. */
export interface KubectlOptions extends Partial<RunOptions> {
  readonly user?: User;
}

/** A command line of kubectl, without the word `kubectl`: gives what it prints. @throws Error when it ends badly */
export interface Kubectl {
  (line: TemplateStringsArray, ...values: unknown[]): Promise<string>;
  /** The namespace that it works in. */
  readonly namespace: string;
  /** Expects a bad end; gives what it says on standard error. */
  fails(line: TemplateStringsArray, ...values: unknown[]): Promise<string>;
  /** Whatever comes of it. */
  run(line: TemplateStringsArray, ...values: unknown[]): Promise<Ran>;
  /** The same with standard input, another user, or an early end. */
  with(options: KubectlOptions): Kubectl;
}

/** A sandbox behind a socket, and the official clients pointed at it. */
export interface TestCluster {
  readonly sandbox: Sandbox;
  /** The administrator's, as a file. */
  readonly kubeconfig: string;
  /** What clients run with: nothing of the user's own configuration. */
  readonly environment: Readonly<Record<string, string>>;
  /** kubectl in a namespace of its own. */
  kubectl(namespace?: string): Promise<Kubectl>;
  stop(): Promise<void>;
}

const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

/** The directory of the programs that tools/kubernetes has built. @throws Error when it has not */
function programs(): string {
  try {
    return execFileSync('tools/kubernetes/build', ['--check'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    throw new Error('kubectl is not built: run `make kubernetes` (it builds kubectl from source, once)');
  }
}

/** Puts a sandbox behind a socket. Default: one of two nodes that run `example.com/app`, with RBAC. */
export async function startCluster(
  sandbox: Sandbox = createSandbox({
    clock: realClock,
    random: realRandom,
    images: [app],
    nodes: [{ name: 'node-1' }, { name: 'node-2' }],
    authorization: 'RBAC',
  }),
): Promise<TestCluster> {
  const kubectl = join(programs(), 'kubectl');
  const listening = await sandbox.listen();
  const home = mkdtempSync(join(tmpdir(), 'clients-'));
  const texts = new Map<string | undefined, Promise<string>>();
  /** The path of a user's kubeconfig for a namespace. */
  const kubeconfigFor = async (namespace: string, user?: User) => {
    const path = join(home, `kubeconfig-${namespace}-${user?.name ?? 'administrator'}`);
    if (existsSync(path)) return path;
    const text = texts.get(user?.name) ?? listening.kubeconfig(user);
    texts.set(user?.name, text);
    const document = parseDocument(await text);
    document.setIn(['contexts', 0, 'context', 'namespace'], namespace);
    writeFileSync(path, document.toString(), { mode: 0o600 });
    return path;
  };
  const kubeconfig = await kubeconfigFor('default');
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TMPDIR: home,
    KUBECACHEDIR: join(home, 'cache'),
    KUBECONFIG: kubeconfig,
  };

  function inNamespace(namespace: string, options: KubectlOptions): Kubectl {
    const start = async (line: TemplateStringsArray, values: readonly unknown[]) =>
      run(kubectl, words(line, values), {
        ...options,
        environment: {
          ...environment,
          ...options.environment,
          KUBECONFIG: await kubeconfigFor(namespace, options.user),
        },
      });
    const say = (line: TemplateStringsArray, values: readonly unknown[], { stdout, stderr, code }: Ran) =>
      `kubectl ${words(line, values).join(' ')}\nexit code ${code}\n${stderr}${stdout}`;
    return Object.assign(
      async (line: TemplateStringsArray, ...values: unknown[]) => {
        const ran = await start(line, values);
        if (ran.code !== 0 && !options.until) throw new Error(say(line, values, ran));
        return ran.stdout;
      },
      {
        namespace,
        run: (line: TemplateStringsArray, ...values: unknown[]) => start(line, values),
        async fails(line: TemplateStringsArray, ...values: unknown[]) {
          const ran = await start(line, values);
          if (ran.code === 0 || ran.code === 137) throw new Error(`no refusal: ${say(line, values, ran)}`);
          return ran.stderr.trim();
        },
        with: (more: KubectlOptions) => inNamespace(namespace, { ...options, ...more }),
      },
    );
  }

  let namespaces = 0;
  return {
    sandbox,
    kubeconfig,
    environment,
    async kubectl(namespace) {
      if (namespace !== undefined) return inNamespace(namespace, {});
      const name = `test-${namespaces++}`;
      await sandbox.client().create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      return inNamespace(name, {});
    },
    async stop() {
      await listening.close();
      sandbox.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** A test with a cluster, which the tests of a file share, and kubectl in a namespace that is its own. */
export const test = base
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the parameter's text to learn what a fixture needs
  .extend('cluster', { scope: 'file' }, async ({}, { onCleanup }) => {
    const cluster = await startCluster();
    onCleanup(() => cluster.stop());
    return cluster;
  })
  .extend('kubectl', ({ cluster }) => cluster.kubectl());

/** A table that kubectl has printed, line by line, cells between bars; ages and the made-up ends of names put as `*`. */
export function table(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .trim()
        .split(/\s{2,}/)
        .map((cell) => cell.replace(/^(\d+[smhd])+$/, '*').replace(/-[0-9a-z]{6,10}-[0-9a-z]{5}$/, '-*-*'))
        .join(' | '),
    );
}
