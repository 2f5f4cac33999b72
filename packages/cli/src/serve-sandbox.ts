import { chmodSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Sandbox } from '@openstack-operator/sandbox';
import { CommandError } from './command-error.ts';

/**
 * Serves a sandbox on 127.0.0.1, writes a kubeconfig of its administrator, and says how to use it. `operator`: whether it has
 * our CRDs.
 * @returns what ends it
 */
export async function serveSandbox(
  sandbox: Sandbox,
  options: { port?: number; kubeconfig: string; operator: boolean },
): Promise<() => Promise<void>> {
  const listening = await sandbox
    .listen(options.port === undefined ? {} : { port: options.port })
    .catch((error: Error) => {
      throw new CommandError(
        `cannot listen on port ${options.port}: ${error.message}; choose another --port, or none for a free one`,
      );
    });
  const path = resolve(options.kubeconfig);
  try {
    writeFileSync(path, await listening.kubeconfig(), { mode: 0o600 });
    chmodSync(path, 0o600);
  } catch (error) {
    await listening.close();
    throw new CommandError(
      `${path} cannot be written: ${(error as Error).message}; name another file with --kubeconfig`,
    );
  }
  process.stdout.write(
    `\nKubernetes API: ${listening.url}\nTo use it:      export KUBECONFIG=${path}\n                kubectl get ${options.operator ? 'openstack,pods -A' : 'nodes,namespaces'}\nTo stop it:     Ctrl-C\n`,
  );
  return () => listening.close();
}

/** Resolves when the process is asked to end. */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
