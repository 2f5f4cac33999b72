import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * For vitest's globalSetup: starts a real API server for the run (options as `tools/kubernetes/up --api-only` takes them),
 * unless CONFORMANCE_KUBECONFIG already names one; gives what takes it down.
 */
export function realServer(...options: string[]): (() => void) | undefined {
  if (process.env['CONFORMANCE_KUBECONFIG']) return undefined;
  const directory = join(mkdtempSync(join(tmpdir(), 'real-server-')), 'kubernetes');
  execFileSync('tools/kubernetes/up', ['--api-only', ...options, '--dir', directory], { stdio: 'inherit' });
  process.env['CONFORMANCE_KUBECONFIG'] = join(directory, 'kubeconfig');
  return () => {
    execFileSync('tools/kubernetes/down', ['--dir', directory], { stdio: 'inherit' });
  };
}
