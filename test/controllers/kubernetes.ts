import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Starts a real API server with controllers for the run, unless CONFORMANCE_KUBECONFIG already names one. */
export function setup(): (() => void) | undefined {
  if (process.env['CONFORMANCE_KUBECONFIG']) return undefined;
  const directory = join(mkdtempSync(join(tmpdir(), 'controllers-')), 'kubernetes');
  execFileSync('tools/kubernetes/up', ['--api-only', '--controllers', '--dir', directory], { stdio: 'inherit' });
  process.env['CONFORMANCE_KUBECONFIG'] = join(directory, 'kubeconfig');
  return () => {
    execFileSync('tools/kubernetes/down', ['--dir', directory], { stdio: 'inherit' });
  };
}
