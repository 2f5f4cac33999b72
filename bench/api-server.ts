import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, connect, realClock } from '@openstack-operator/kube';
import { root } from '../tools/cloud/place.ts';

/** A real API server with an etcd of its own, for one measurement. */
export interface ApiServer {
  readonly kubeconfig: string;
  /** Process ids, by name of the program. */
  readonly pids: ReadonlyMap<string, number>;
  /** The administrator's. */
  readonly client: Client;
  /** Runs kubectl as the administrator; gives what it prints. */
  kubectl(...args: string[]): string;
  /** A folder that is gone afterwards. */
  readonly folder: string;
}

const tool = (name: string) => join(root, 'tools/kubernetes', name);

/**
 * Starts a real API server, works with it, and ends it whatever happens (Ctrl-C too).
 * @param programs what starts beside it: `--controllers`, `--scheduler`
 */
export async function withApiServer(
  work: (server: ApiServer) => Promise<void>,
  programs: readonly string[] = [],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'openstack-operator-bench-'));
  const directory = join(folder, 'kubernetes');
  const end = () => {
    execFileSync(tool('down'), ['--api-only', '--dir', directory], { stdio: 'ignore' });
    rmSync(folder, { recursive: true, force: true });
  };
  const interrupted = () => {
    end();
    process.exit(130);
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, interrupted);
  try {
    execFileSync(tool('up'), ['--api-only', ...programs, '--dir', directory], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const kubeconfig = join(directory, 'kubeconfig');
    const built = execFileSync(tool('build'), ['--check'], { encoding: 'utf8' }).trim();
    const kubectl = (...args: string[]) =>
      execFileSync(join(built, 'kubectl'), ['--kubeconfig', kubeconfig, ...args], {
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
      });
    const { client } = await connect({ kubeconfig, env: {}, clock: realClock });
    try {
      await work({ kubeconfig, pids: pidsOf(join(directory, 'pids')), kubectl, client, folder });
    } finally {
      await client.close();
    }
  } finally {
    end();
    for (const signal of signals) process.off(signal, interrupted);
  }
}

function pidsOf(path: string): Map<string, number> {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return new Map(
    lines.map((line) => {
      const [pid, name = ''] = line.split(' ');
      return [name, Number(pid)];
    }),
  );
}
