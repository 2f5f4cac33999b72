import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Starts a real API server for the run, unless CONFORMANCE_KUBECONFIG already names one; gives what takes it down. */
export function setup(): (() => void) | undefined {
  if (process.env['CONFORMANCE_KUBECONFIG']) return undefined;
  const directory = join(mkdtempSync(join(tmpdir(), 'conformance-')), 'kubernetes');
  execFileSync('tools/kubernetes/up', ['--api-only', '--dir', directory], { stdio: 'inherit' });
  process.env['CONFORMANCE_KUBECONFIG'] = join(directory, 'kubeconfig');
  return () => {
    execFileSync('tools/kubernetes/down', ['--dir', directory], { stdio: 'inherit' });
  };
}
