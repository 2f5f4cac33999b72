import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeHosts } from './hosts.ts';
import { kubernetesPrograms, type Place, root } from './place.ts';
import { StepError } from './step.ts';

/**
 * Runs a command (or a shell) that reaches the cloud by its names: those of its Services, as its pods do, and those of
 * its Gateways. Its mount namespace has a resolv.conf and hosts of its own, so that the machine's stay as they are.
 * Gives the exit code.
 */
export async function shell(place: Place, command: readonly string[]): Promise<number> {
  if (!existsSync(place.openrc)) throw new StepError('No cloud runs here: make cloud brings one up.');
  await writeHosts(place);
  const script = `mount --bind "$RESOLVER" /etc/resolv.conf && mount --bind "$CLOUD_HOSTS" /etc/hosts && . "$OPENRC" && exec "$@"`;
  const wanted = command.length > 0 ? command : [process.env['SHELL'] ?? '/bin/bash'];
  const child = spawn('unshare', ['--mount', 'sh', '-c', script, 'sh', ...wanted], {
    stdio: 'inherit',
    env: {
      ...process.env,
      RESOLVER: place.resolver,
      CLOUD_HOSTS: place.hosts,
      OPENRC: place.openrc,
      KUBECONFIG: place.kubeconfig,
      CLOUD_NODE_ENTER: `${join(root, 'tools/kubernetes/enter')} --dir ${place.kubernetes}`,
      OS_CLIENT_CONFIG_FILE: place.clouds,
      PATH: `${kubernetesPrograms()}:${process.env['PATH'] ?? ''}`,
    },
  });
  return await new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
}
